import { engineOf } from '@mcp-saga/core/program';
import type { CommitReason } from '../src/model/outcome.ts';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  call,
  checkpoint,
  elicit,
  elicitUrl,
  listRoots,
  now,
  patched,
  random,
  ReplayMismatch,
  saga,
  SagaCancelled,
  sample,
  scope,
  step,
  uuid,
} from '../src/index.ts';
import type { ClientAnswer, ClientStep } from '../src/model/client-step.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import {
  accepted,
  answered,
  completed,
  failed,
  said,
  start,
  suspended,
  turn,
} from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { endsAtCommits, runtimeOf, World, type TurnSettings } from './support/world.ts';

const word = accepted({ word: 'w' });
const answerTo = ({ type, params }: ClientStep): ClientAnswer => {
  if (type === 'sampling') return said('yes');
  if (type === 'roots') return answered({ roots: [] });
  return params['mode'] === 'url' ? answered({ action: 'accept' }) : word;
};

/** Records `before` on one instance, and replays it by `after` on another. */
async function changed(
  before: () => Steps<unknown>,
  after: () => Steps<unknown>,
  settings?: TurnSettings,
): Promise<{ error: unknown; got: unknown[]; runs: number }> {
  const world = new World();
  const programOf = (steps: () => Steps<unknown>, into: unknown[]): Program =>
    sagaOf(function* () {
      into.push(yield* steps());
      yield* ask('end');
      return 'done';
    });
  let { state, steps } = suspended(await start(programOf(before, []), {}, world, settings));
  if (!steps.some(({ stepId }) => stepId === 'end')) {
    const given = Object.fromEntries(steps.map((asked) => [asked.stepId, answerTo(asked)]));
    ({ state, steps } = suspended(
      await turn(programOf(before, []), state, given, world, settings),
    ));
  }
  expect(steps.map(({ stepId }) => stepId)).toEqual(['end']);
  const got: unknown[] = [];
  world.events.length = 0;
  const outcome = await turn(programOf(after, got), state, { end: word }, world, settings);
  return {
    error: outcome.status === 'failed' ? outcome.error : undefined,
    got,
    runs: world.events.filter(({ type }) => type === 'started').length,
  };
}

const one = (): number => 1;
const message = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  maxTokens: 10,
});
const Word = z.object({ word: z.string() });
const Wider = z.object({ word: z.string(), more: z.string().optional() });
const other = saga({ name: 'child', version: '1' }, function* () {
  return `${yield* step('in', one)}`;
});
const withInput = saga(
  { name: 'child', version: '1', input: z.object({ n: z.number() }) },
  function* () {
    return `${yield* step('in', one)}`;
  },
);

/** Recorded command, current command, and both in the words of the error. */
const mismatches: [string, () => Steps<unknown>, () => Steps<unknown>, string, string[]][] = [
  [
    'a message',
    () => gen(ask('form', 'old')),
    () => gen(ask('form', 'new')),
    'elicit form',
    ['elicit form'],
  ],
  [
    'the message of a url',
    () => gen(elicitUrl('url', { message: 'old', url: 'https://a.example' })),
    () => gen(elicitUrl('url', { message: 'new', url: 'https://a.example' })),
    'elicitUrl url',
    ['elicitUrl url'],
  ],
  [
    'a url',
    () => gen(elicitUrl('url', { message: 'm', url: 'https://a.example' })),
    () => gen(elicitUrl('url', { message: 'm', url: 'https://b.example' })),
    'elicitUrl url',
    ['elicitUrl url'],
  ],
  [
    'the messages of a sample',
    () => gen(sample('model', message('old'))),
    () => gen(sample('model', message('new'))),
    'sample model',
    ['sample model'],
  ],
  [
    'the maxTokens of a sample',
    () => gen(sample('model', message('m'))),
    () => gen(sample('model', { ...message('m'), maxTokens: 11 })),
    'sample model',
    ['sample model'],
  ],
  [
    'an input',
    () => gen(step('a', one, { input: { n: 1 } })),
    () => gen(step('a', one, { input: { n: 2 } })),
    'step a',
    ['step a'],
  ],
  [
    'an input that is gone',
    () => gen(step('a', one, { input: 1 })),
    () => gen(step('a', one)),
    'step a',
    ['step a'],
  ],
  [
    'an input that is new',
    () => gen(step('a', one)),
    () => gen(step('a', one, { input: 1 })),
    'step a',
    ['step a'],
  ],
  [
    'an input of another type',
    () => gen(step('a', one, { input: 1 })),
    () => gen(step('a', one, { input: '1' })),
    'step a',
    ['step a'],
  ],
  [
    'a key',
    () => gen(step('a', one, { key: 'x' })),
    () => gen(step('a', one, { key: 'y' })),
    'step a(x)',
    ['step a(y)'],
  ],
  ['a name', () => gen(step('a', one)), () => gen(step('b', one)), 'step a', ['step b']],
  [
    'the order',
    function* () {
      yield* step('a', one);
      yield* step('b', one);
    },
    function* () {
      yield* step('b', one);
      yield* step('a', one);
    },
    'step a',
    ['step b'],
  ],
  [
    'a step that is gone',
    function* () {
      yield* step('a', one);
      yield* step('b', one);
    },
    function* () {
      yield* step('b', one);
    },
    'step a',
    ['step b'],
  ],
  [
    'a step that is new',
    () => gen(step('a', one)),
    function* () {
      yield* step('new', one);
      yield* step('a', one);
    },
    'step a',
    ['step new'],
  ],
  [
    'a step that became a question',
    () => gen(step('form', one)),
    () => gen(ask('form')),
    'step form',
    ['elicit form'],
  ],
  [
    'a question that became a step',
    () => gen(ask('form')),
    () => gen(step('form', one)),
    'elicit form',
    ['step form'],
  ],
  [
    'a form that became roots',
    () => gen(ask('roots')),
    () => gen(listRoots('roots')),
    'elicit roots',
    ['roots roots'],
  ],
  ['now that became random', () => gen(now()), () => gen(random()), 'now now', ['random random']],
  [
    'random that became uuid',
    () => gen(random()),
    () => gen(uuid()),
    'random random',
    ['uuid uuid'],
  ],
  [
    'random that became a step',
    () => gen(random()),
    () => gen(step('random', one)),
    'random random',
    ['step random'],
  ],
  [
    'uuid that became a step',
    () => gen(uuid()),
    () => gen(step('uuid', one)),
    'uuid uuid',
    ['step uuid'],
  ],
  [
    'now that is new',
    () => gen(step('a', one)),
    function* () {
      yield* now();
      yield* step('a', one);
    },
    'step a',
    ['now now'],
  ],
  [
    'now that is gone',
    function* () {
      yield* now();
      yield* step('a', one);
    },
    () => gen(step('a', one)),
    'now now',
    ['step a'],
  ],
  [
    'a scope',
    () => gen(scope('s', step('a', one))),
    () => gen(step('a', one)),
    'step s/a',
    ['step a'],
  ],
  [
    'the arguments of a called saga',
    () => gen(call(withInput, { n: 1 })),
    () => gen(call(withInput, { n: 2 })),
    'call child',
    ['call child'],
  ],
  [
    'a called saga that became a scope',
    () => gen(call(other, undefined)),
    () => gen(scope('child', step('in', one))),
    'call child',
    ['step child/in'],
  ],
  [
    'the key of a branch',
    () => gen(all({ x: gen(step('a', one)), y: gen(step('a', one)) })),
    () => gen(all({ z: gen(step('a', one)), y: gen(step('a', one)) })),
    'step x/a',
    ['step z/a', 'step y/a'],
  ],
];

function* gen<T>(command: Command<T>): Steps<T> {
  return yield* command;
}

describe('a replay that asks for something else', () => {
  it.each(mismatches)(
    '[R3] throws a ReplayMismatch with recorded and asked: %s',
    async (_, before, after, recorded, asked) => {
      const { error, got, runs } = await changed(before, after);
      expect(error).toBeInstanceOf(ReplayMismatch);
      const mismatch = error as ReplayMismatch;
      const [kind, path] = recorded.split(' ');
      expect(mismatch.recorded.path).toBe(path);
      // The letters of a few kinds are shared: the recorded kind is the most common one.
      expect([kind, 'step', 'client step', 'elicit']).toContain(mismatch.recorded.kind);
      expect(mismatch.asked.map((facts) => `${facts.kind} ${facts.path}`)).toEqual(asked);
      expect(mismatch.public).toBe(false);
      expect(got).toEqual([]);
      expect(runs).toBe(0);
    },
  );

  it('[R3] names both sides, without values and messages', async () => {
    const { error } = await changed(
      () => gen(step('pay', () => 'secret-result', { input: 'secret-old' })),
      () => gen(step('pay', one, { input: 'secret-new' })),
    );
    const text = (error as Error).message;
    expect(text).toContain(
      "the journal has step 'pay', but the code asks for step 'pay' with other content",
    );
    expect(text).not.toContain('secret');
  });

  it('[R3] is a mismatch if the body ends before its journal', async () => {
    const program = (body: () => Steps<string>): Program => sagaOf(body);
    const { state } = suspended(
      await start(
        program(function* () {
          yield* step('a', one);
          yield* ask('end');
          return 'done';
        }),
      ),
    );
    // oxlint-disable-next-line require-yield
    const short = program(function* () {
      return 'short';
    });
    const error = failed(await turn(short, state, { end: word })) as ReplayMismatch;
    expect(error).toBeInstanceOf(ReplayMismatch);
    expect(error.asked).toEqual([]);
    expect(error.message).toContain('nothing more');
  });

  it('[R3] is a mismatch if a parallel branch was removed', async () => {
    const { error } = await changed(
      () => gen(all([step('a', one), step('b', one)])),
      () => gen(all([step('a', one)])),
    );
    expect(error).toBeInstanceOf(ReplayMismatch);
    expect(error).toMatchObject({ recorded: { path: 'b' }, asked: [{ path: 'end' }] });
  });

  it('[R3] cannot be caught by the body', async () => {
    const { error, got } = await changed(
      () => gen(step('a', one)),
      function* () {
        try {
          return yield* step('b', one);
        } catch {
          return 'caught';
        }
      },
    );
    expect(error).toBeInstanceOf(ReplayMismatch);
    expect(got).toEqual([]);
  });

  it.each<[string, () => Steps<unknown>, () => Steps<unknown>]>([
    [
      'another schema',
      () => gen(elicit('form', { message: 'm', schema: Word })),
      () => gen(elicit('form', { message: 'm', schema: Wider })),
    ],
    [
      'an outcome instead of the content',
      () => gen(elicit('form', { message: 'm', schema: Word })),
      () => gen(elicit.outcome('form', { message: 'm', schema: Word })),
    ],
    [
      'other settings of a step',
      () => gen(step('a', one)),
      () => gen(step('a', one, { retry: 3, timeout: 5, compress: true })),
    ],
    ['another function', () => gen(step('a', one)), () => gen(step('a', () => 2))],
    [
      'the order of keys in an input',
      () => gen(step('a', one, { input: { x: 1, y: 2 } })),
      () => gen(step('a', one, { input: { y: 2, x: 1 } })),
    ],
    ['a helper around a step', () => gen(step('a', one)), () => gen2(step('a', one))],
  ])('[R3] is not a mismatch with %s', async (_, before, after) => {
    const { error, got } = await changed(before, after);
    expect(error).toBeUndefined();
    expect(got).toHaveLength(1);
  });

  it('[R3] is not a mismatch for an open question, which is asked again', async () => {
    const of = (text: string): Program =>
      sagaOf(function* () {
        return (yield* ask('form', text)).word;
      });
    const { state } = suspended(await start(of('old')));
    const again = suspended(await turn(of('new'), state, { form: word }));
    expect(again.ignored).toEqual([{ stepId: 'form', why: 'asked otherwise' }]);
    expect(again.steps[0]?.params['message']).toBe('new');
    expect(completed(await turn(of('new'), again.state, { form: word }))).toBe('w');
  });

  it('[R3] is a mismatch if the body is not deterministic', async () => {
    let runs = 0;
    const program = sagaOf(function* () {
      runs += 1;
      yield* step(`run${runs}`, one);
      yield* checkpoint();
      return 'done';
    });
    const { state } = suspended(await start(program));
    expect(failed(await turn(program, state))).toBeInstanceOf(ReplayMismatch);
  });
});

function* gen2<T>(command: Command<T>): Steps<T> {
  return yield* gen(command);
}

describe('a removed question', () => {
  const refusedTo: ClientAnswer = answered({ action: 'decline' });
  const make = (asks: boolean, did: string[] = [], onMismatch?: 'compensate'): Program =>
    saga(
      { name: 'order', version: '1', reuse: 'ok', ...(onMismatch && { onMismatch }) },
      function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        if (asks) yield* ask('sure');
        yield* step('delete', () => void did.push('delete'));
        return 'deleted';
      },
    );

  it('[R3] does not continue the saga as if it had been answered', async () => {
    const did: string[] = [];
    const { state } = suspended(await start(make(true, did)));
    for (const answers of [{ sure: refusedTo }, {}]) {
      const error = failed(await turn(make(false, did), state, answers));
      expect(error).toBeInstanceOf(ReplayMismatch);
      expect(error).toMatchObject({
        position: 1,
        recorded: { kind: 'question', path: 'sure' },
        asked: [{ kind: 'step', path: 'delete' }],
      });
      expect(String(error)).toContain(
        "At entry 2, the journal has question 'sure', but the code asks for step 'delete'.",
      );
    }
    expect(did).toEqual(['charge']);
    // The code was rolled back.
    expect(failed(await turn(make(true, did), state, { sure: refusedTo }))).toMatchObject({
      stepId: 'sure',
    });
  });

  it('[R3] names a step that the code asks to undo, without its internal path', async () => {
    const charges = (fails: boolean): Program =>
      sagaOf(
        function* () {
          yield* step('charge', () => 1, { compensate: () => {} });
          if (fails) throw new Error('changed');
          yield* ask('sure');
          return '';
        },
        { reuse: 'ok' },
      );
    const { state } = suspended(await start(charges(false)));
    const error = failed(await turn(charges(true), state));
    expect(error).toBeInstanceOf(ReplayMismatch);
    expect(String(error)).toContain("the code asks for the undo of 'charge'.");
    expect(String(error)).not.toContain('~');
  });

  it("[R3] leads to an undo with onMismatch: 'compensate', over several turns", async () => {
    for (const isGuarded of [false, true]) {
      const did: string[] = [];
      const { state } = suspended(await start(make(true, did, 'compensate')));
      const reasons: CommitReason[] = [];
      const settings = { replace: isGuarded ? endsAtCommits(reasons) : {} };
      let outcome = await turn(make(false, did, 'compensate'), state, {}, new World(), settings);
      if (isGuarded) {
        expect(outcome).toMatchObject({ status: 'suspended', undoes: true });
        expect(reasons).toEqual(['undo']);
        expect(did).toEqual(['charge']);
        outcome = await turn(
          make(false, did, 'compensate'),
          suspended(outcome).state,
          {},
          new World(),
          settings,
        );
      }
      expect(outcome).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'charge' }],
        uncompensated: [],
      });
      expect(String(failed(outcome))).toContain("question 'sure'");
      expect(did).toEqual(['charge', 'refund']);
    }
  });

  it('[R3] is not asked again after the undo has begun', async () => {
    const did: string[] = [];
    const { state } = suspended(await start(make(true, did, 'compensate')));
    const settings = { replace: { ...endsAtCommits() } };
    const decided = suspended(
      await turn(make(false, did, 'compensate'), state, {}, new World(), settings),
    );
    // The code was rolled back.
    const end = await turn(
      make(true, did, 'compensate'),
      decided.state,
      { sure: word },
      new World(),
      settings,
    );
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[R6] is a mismatch with a cause if the code throws instead', async () => {
    const { state } = suspended(await start(make(true)));
    const throwing = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', () => undefined, { compensate: () => undefined });
      throw new Error('not served any more');
    });
    expect(await turn(throwing, state, { sure: word })).toMatchObject({
      error: { code: 'replay_mismatch', cause: { message: 'not served any more' } },
      compensated: [],
      uncompensated: [],
    });
    const bare = sagaOf(function* () {
      yield* ask('sure');
      return 'done';
    });
    const waiting = suspended(await start(bare));
    const closed = sagaOf(function* () {
      yield* abort('closed');
      return 'done';
    });
    expect(failed(await turn(closed, waiting.state, {}))).toMatchObject({
      code: 'replay_mismatch',
      cause: { message: 'closed' },
    });
  });

  it('[R5] is still asked, and its refusal counts, behind a new `patched` that skips it', async () => {
    const did: string[] = [];
    const { state } = suspended(await start(make(true, did)));
    const after = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      if (!(yield* patched('no-question'))) yield* ask('sure');
      yield* step('delete', () => void did.push('delete'));
      return 'deleted';
    });
    expect(Object.keys(suspended(await turn(after, state, {})).steps)).toHaveLength(1);
    expect(await turn(after, state, { sure: refusedTo })).toMatchObject({
      error: { code: 'elicitation_refused' },
      compensated: [{ stepId: 'charge' }],
    });
    expect(did).toEqual(['charge', 'refund']);
    expect(
      completed(await turn(after, suspended(await start(make(true, []))).state, { sure: word })),
    ).toBe('deleted');
  });

  it('[E6] does not prevent a cancellation', async () => {
    const did: string[] = [];
    const { state } = suspended(await start(make(true, did)));
    const outcome = await engineOf(make(false, did)).advance(
      state,
      new Map(),
      runtimeOf(new World()),
      {
        error: new SagaCancelled('enough'),
      },
    );
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'charge' }] });
    expect(did).toEqual(['charge', 'refund']);
  });
});
