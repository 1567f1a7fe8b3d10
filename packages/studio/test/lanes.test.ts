import type { SeenEvent, SeenTurn } from 'mcp-saga/studio';
import { expect, it } from 'vitest';
import {
  type QueueFacts,
  answersOf,
  entriesOf,
  openLinks,
  pauseBefore,
  toLanes,
  unheldTurn,
  whatContinues,
} from '../src/live/lanes.ts';
import type { Sent } from '../src/live/mcp-client.ts';

function answered(id: string, more: Partial<SeenEvent> = {}): SeenEvent {
  return { id, kind: 'elicit', type: 'answered', ...more };
}

/** Turn of a request of the page, which answers a question. */
function turnOf(turn: number, request: string, more: Partial<SeenTurn> = {}): SeenTurn {
  const events = turn === 1 ? [] : [answered(`q${turn} ${request}`, { action: 'decline' })];
  const action = turn === 1 ? 'start' : 'resume';
  return {
    turn,
    request,
    action,
    status: 'suspended',
    startedAt: turn,
    events,
    asked: [],
    tokenBytes: 1,
    ...more,
  };
}

function sentBy(id: string, parent?: string): Sent {
  return {
    id,
    tool: 'ask',
    method: 'tools/resumeSaga',
    ...(parent === undefined ? {} : { parent }),
  };
}

it('finds the answers that led to a fork of a fork', () => {
  const turns = [
    turnOf(1, 'start'),
    turnOf(2, 'a'),
    turnOf(3, 'b'),
    turnOf(3, 'other b'),
    turnOf(4, 'c'),
    turnOf(4, 'other c'),
  ];
  const sent = [
    sentBy('start'),
    sentBy('a', 'start'),
    sentBy('b', 'a'),
    sentBy('other b', 'a'),
    sentBy('c', 'other b'),
    sentBy('other c', 'other b'),
  ];
  const lanes = toLanes(turns, sent, 'ask');
  const ids = lanes.map(({ path }) => answersOf(path).map(({ id }) => id));
  expect(ids).toEqual([
    ['q2 a', 'q3 b'],
    ['q2 a', 'q3 other b', 'q4 c'],
    ['q2 a', 'q3 other b', 'q4 other c'],
  ]);
  expect(lanes.map(({ origin }) => origin && lanes.indexOf(origin))).toEqual([undefined, 0, 1]);
});

it('keeps a run in one line if the server rejects an answer and asks again', () => {
  const foreign = (turn: number, more: Partial<SeenTurn>): SeenTurn => {
    const { request: _, ...seen } = turnOf(turn, '', more);
    return seen;
  };
  const asked = [{ stepId: 'amount', type: 'elicitation' }];
  const turns = [
    foreign(1, { asked }),
    foreign(2, { asked, events: [] }),
    foreign(2, { asked, events: [] }),
    foreign(2, { asked: [] }),
    foreign(3, { status: 'completed', result: 'x' }),
  ];
  const lanes = toLanes(turns, [], 'ask');
  expect(lanes.map((lane) => lane.turns)).toEqual([turns]);
  // Each request has its own piece of the diagram.
  expect(lanes[0]?.entries.filter(({ isFirst }) => isFirst).map(({ turn }) => turn)).toEqual([
    1, 2, 2, 2, 3,
  ]);
  const running = foreign(2, { status: 'running', events: [] });
  const cancelled = foreign(2, { status: 'failed', action: 'cancel', events: [] });
  for (const before of [running, cancelled])
    expect(toLanes([foreign(1, { asked }), before, running], [], 'ask')).toHaveLength(2);
  // The same turn after one with an answer is a fork.
  expect(toLanes([...turns, foreign(2, {})], [], 'ask')).toHaveLength(2);
});

it('keeps a turn of the queue, its stored response, and the next turn in one line', () => {
  const queued = turnOf(2, '', { client: 'queue', events: [] });
  const { request: _, ...woken } = queued;
  const reply = { sagaToken: 'token' };
  const start = { ...sentBy('start'), reply };
  const [alone] = toLanes([turnOf(1, 'start'), woken], [start], 'ask');
  expect(alone && unheldTurn(alone)).toBe(woken);
  expect(alone?.tokens.map(({ sent }) => sent?.id)).toEqual(['start', undefined]);

  const repeat = turnOf(2, 'back', { action: 'repeat', events: [] });
  const turns = [turnOf(1, 'start'), woken, repeat, turnOf(3, 'next')];
  const sent = [start, { ...sentBy('back', 'start'), reply }, sentBy('next', 'back')];
  const held = toLanes(turns.slice(0, 3), sent, 'ask');
  expect(held.map(unheldTurn)).toEqual([undefined]);
  expect(held[0]?.tokens.at(-1)).toMatchObject({ sent: { id: 'back' }, isNewest: true });
  expect(toLanes(turns, sent, 'ask').map((lane) => lane.turns)).toEqual([turns]);
});

function pollOf(id: string, attempt: number, more: Partial<SeenEvent> = {}): SeenEvent {
  return {
    id,
    kind: 'poll',
    type: 'succeeded',
    attempt,
    startedAt: attempt * 1_000,
    durationMs: 1,
    ...more,
  };
}

it('names the people that a saga waits for, and who decided what', () => {
  const deadline = Date.UTC(2027, 0, 4, 12);
  const asked: SeenEvent = {
    id: 'manager',
    kind: 'told',
    type: 'told',
    value: 'Pay?',
    url: 'http://a/1',
    deadline,
  };
  const answers = [
    { by: 'ann', at: deadline, approved: true, value: '{"note":"ok"}' },
    { by: 'link', at: deadline, approved: false },
  ];
  const denied = pollOf('manager/answers', 2, {
    decision: { id: 'manager', outcome: 'denied', answers },
  });
  const late = pollOf('manager/close#2', 3, {
    decision: { id: 'manager', outcome: 'timeout', answers: [] },
  });
  const begun = turnOf(1, 'start', {
    startedAt: deadline - 86_400_000,
    events: [asked, pollOf('manager/answers', 1)],
    retryAfterMs: 30_000,
  });
  const [lane] = toLanes([begun, turnOf(2, 'a', { events: [denied, late] })], [], 'ask');
  const texts = lane?.entries.map(({ text }) => text.replaceAll(/\d+:\d+(?: [AP]M)?/g, 'TIME'));
  expect(texts).toEqual([
    'call ask',
    'ran manager Pay?',
    'waits for manager until Monday TIME',
    'manager approved · ann · TIME · {"note":"ok"}',
    'manager denied · holder of the link · TIME',
    'manager no decision in time',
  ]);
});

it('says what continues a waiting saga whose client is gone', () => {
  const startedAt = Date.UTC(2027, 0, 3, 12);
  const later = (hours: number): number => startedAt + hours * 3_600_000;
  const expiresAt = later(1);
  const asked = [{ stepId: 'amount', type: 'elicitation' }];
  const told: SeenEvent = { id: 'manager', kind: 'told', type: 'told', url: 'http://a/1' };
  const said = (more: Partial<SeenTurn>, queue: QueueFacts = {}): string | undefined => {
    const [lane] = toLanes([turnOf(1, 'start', { startedAt, expiresAt, ...more })], [], 'ask');
    return whatContinues(lane!, queue)?.replaceAll(/\d+:\d+(?::\d+)?(?: [AP]M)?/g, 'TIME');
  };
  const onlyClient = 'Only the client continues the saga, with an answer and token 1, until TIME.';
  expect(said({ asked })).toBe(onlyClient);
  // The queue waits until the token of the client has expired.
  expect(said({ asked }, { continuesAt: later(2) })).toBe(
    `${onlyClient} If it is gone, the queue then ends the saga.`,
  );
  expect(said({ asked }, { hasOwnQueue: true })).toBe(
    `${onlyClient} If it is gone, the queue of your server decides.`,
  );
  // The question has a timeout before that.
  expect(said({ asked }, { continuesAt: later(0.5) })).toBe(
    'If the client is gone, the queue continues the saga at TIME.',
  );
  expect(said({})).toBe('Only the client continues the saga, with token 1, until TIME.');
  expect(said({}, { continuesAt: later(0.5) })).toBe(
    'If the client is gone, the queue continues the saga at TIME.',
  );
  expect(said({ events: [{ ...told, deadline: later(24) }] }, { continuesAt: later(0.1) })).toBe(
    'If the client is gone, the queue continues the saga when manager is decided, or on Monday TIME.',
  );
  expect(said({ events: [told] }, { continuesAt: later(0.1) })).toBe(
    'If the client is gone, the queue continues the saga when manager is decided.',
  );
  for (const status of ['running', 'completed', 'failed'] as const)
    expect(said({ status }, { continuesAt: later(1) })).toBeUndefined();
  // The client went away before it got a token.
  expect(said({ status: 'rejected' })).toBe(
    'Nothing continues the saga: its client has no token, and the queue has no message.',
  );
  expect(said({ status: 'rejected' }, { hasOwnQueue: true })).toBeUndefined();
  expect(said({ status: 'rejected' }, { continuesAt: later(1) })).toBe(
    'If the client is gone, the queue continues the saga at TIME.',
  );
});

it('lists the links of a waiting saga that nobody has answered', () => {
  const link = (id: string): SeenEvent => ({
    id,
    kind: 'told',
    type: 'told',
    url: `https://shop.example/${id}`,
  });
  const decision = { id: 'boss', outcome: 'approved', answers: [] } as const;
  const begun = turnOf(1, 'start', { events: [link('boss'), link('parcel')] });
  const decided = turnOf(2, 'a', { events: [pollOf('boss/answers', 1, { decision })] });
  const linksOf = (...turns: readonly SeenTurn[]): readonly string[] =>
    openLinks(toLanes(turns, [], 'ask')[0]!).map(({ id }) => id);
  expect(linksOf(begun)).toEqual(['boss', 'parcel']);
  expect(linksOf(begun, decided)).toEqual(['parcel']);
  expect(linksOf(begun, turnOf(2, 'a', { status: 'completed' }))).toEqual([]);
});

it('folds the polls of a turn, and turns that only poll, into the last of them', () => {
  const polling = (turn: number): SeenTurn =>
    turnOf(turn, `r${turn}`, {
      events: [pollOf('parcel', turn), pollOf('parcel', turn + 10)],
      retryAfterMs: 30_000,
    });
  const there = pollOf('parcel', 20, { value: 'there' });
  const turns = [
    turnOf(1, 'r1'),
    polling(2),
    polling(3),
    polling(4),
    turnOf(5, 'r5', { events: [there] }),
  ];
  const sent = turns.map(({ turn }) => sentBy(`r${turn}`, turn === 1 ? undefined : `r${turn - 1}`));
  const [lane, ...forks] = toLanes(turns, sent, 'ask');
  expect(forks).toEqual([]);
  expect(lane?.shown.map(({ turn: { turn }, polls }) => [turn, polls])).toEqual([
    [1, 0],
    [4, 2],
    [5, 0],
  ]);
  expect(lane?.tokens.map(({ turn: { turn } }) => turn)).toEqual([1, 4, 5]);
  const polls = lane?.entries.filter(({ type }) => type === 'polled') ?? [];
  expect(polls.map(({ attempt, value, time }) => [attempt, value, time?.ms])).toEqual([
    [14, undefined, 10_001],
    [20, 'there', 1],
  ]);
});

it('measures the pause before a turn from the end of the shown turn before', () => {
  const events = [pollOf('parcel', 1)];
  const turns = [
    turnOf(1, 'a', { startedAt: 0, durationMs: 1_000 }),
    turnOf(2, 'b', { startedAt: 5_000, durationMs: 1_000, events }),
    turnOf(3, 'c', { startedAt: 9_000, durationMs: 1_000, events }),
    turnOf(4, 'd', { startedAt: 12_000 }),
  ];
  const [lane] = toLanes(turns, [], 'ask');
  const pauses = lane?.shown.map((_, at) => pauseBefore(lane, at + 1));
  expect(pauses).toEqual([0, 8_000, 2_000]);
});

it('takes along only answers of the client that it knows, in each form', () => {
  const events = [
    answered('amount', { action: 'accept', value: '{"euros":30}' }),
    answered('amount#2', { action: 'cancel' }),
    answered('long', { action: 'accept', value: '{"text":"xx…' }),
    answered('opinion', { kind: 'sample', value: '{"type":"text","text":"No"}' }),
    answered('picture', { kind: 'sample', value: '{"type":"image","data":"AA"}' }),
    answered('refused', { kind: 'sample', value: 'The user rejects the request' }),
    answered('roots', { kind: 'roots', value: '{"roots":[{"uri":"file:///a"}]}' }),
    answered('manager', { kind: 'approval', value: '{"approved":true}' }),
    answered('pay', { kind: 'step', type: 'succeeded', value: '12' }),
  ];
  const taken = answersOf([
    turnOf(2, 'a', { events }),
    turnOf(2, 'a', { events, action: 'repeat' }),
    turnOf(3, 'b', { events, status: 'rejected' }),
  ]);
  expect(taken).toEqual([
    { id: 'amount', action: 'accept', content: { euros: 30 } },
    { id: 'amount#2', action: 'cancel', content: undefined },
    { id: 'opinion', action: 'accept', content: 'No' },
    { id: 'roots', action: 'accept', content: [{ uri: 'file:///a' }] },
  ]);
});

it('does not know the outcome of a step that ran when its turn was interrupted', () => {
  const events = [
    answered('pay', { kind: 'step', type: 'succeeded', value: '12' }),
    answered('ship', { kind: 'step', type: 'running' }),
  ];
  const valuesOf = (turn: Partial<SeenTurn>): readonly (readonly [string, string | undefined])[] =>
    entriesOf({ ...turnOf(2, 'a', { events }), ...turn }, 'order').map(({ type, value }) => [
      type,
      value,
    ]);
  expect(valuesOf({ status: 'running' })).toEqual([
    ['ran', '12'],
    ['ran', 'runs now'],
  ]);
  expect(valuesOf({ status: 'rejected', errorType: 'turn_aborted' })).toEqual([
    ['ran', '12'],
    ['ran', 'unknown outcome'],
    ['lost', undefined],
  ]);
});
