import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  approval,
  race,
  SagaCancelled,
  sleep,
  step,
  StepError,
  type Approval,
  type ApprovalOptions,
  type Delivery,
  type Saga,
  type Steps,
} from '../../src/index.ts';
import { completed, failed, start, suspended, turn, type Suspended } from '../support/drive.ts';
import { orphan } from '../../src/turn/turn-without-code.ts';
import { FakeOutside } from '../support/outside.ts';
import { sagaOf } from '../support/sagas.ts';
import { runtimeOf, World, type TurnSettings } from '../support/world.ts';
import { overTheWire } from '../support/drive.ts';

const hour = 3_600_000;
const Comment = z.object({ comment: z.string().min(3) });

interface Sent {
  readonly url: string;
  readonly to: unknown;
  readonly by: unknown;
  readonly isReminder: boolean;
  readonly key: string;
}

/** An approval, its world, and everything that was delivered. */
class Case {
  readonly world = new World();
  readonly outside = new FakeOutside();
  readonly sent: Sent[] = [];
  readonly settings: TurnSettings = {
    budget: 25_000,
    maxHold: 0,
    replace: { outside: this.outside, lifeEndsAt: 30 * 24 * hour },
  };

  saga(options: Partial<ApprovalOptions<typeof Comment, string>> = {}): Saga<undefined, undefined> {
    const deliver = ({ url, to, by, isReminder, idempotencyKey: key }: Delivery<string>): void =>
      void this.sent.push({ url, to, by, isReminder, key });
    return sagaOf(function* () {
      const decision = yield* approval('manager', {
        message: 'Refund?',
        schema: Comment,
        timeout: 24 * hour,
        deliver,
        ...options,
      });
      return JSON.stringify(decision);
    });
  }

  async start(program: Saga<undefined, undefined>): Promise<Suspended> {
    return suspended(await start(program, {}, this.world, this.settings));
  }

  next(program: Saga<undefined, undefined>, { state }: Suspended): ReturnType<typeof turn> {
    return turn(program, state, {}, this.world, this.settings);
  }

  url(index = 0): string {
    return this.sent[index]?.url ?? '';
  }

  answer(given: Parameters<FakeOutside['answer']>[2] = {}, index = 0): boolean {
    return this.outside.answer(this.url(index), this.world.time, {
      content: { comment: 'fine' },
      ...given,
    });
  }
}

function decided(outcome: Awaited<ReturnType<typeof turn>>): Approval<z.infer<typeof Comment>> {
  return JSON.parse(completed(outcome) as string) as Approval<z.infer<typeof Comment>>;
}

describe('approval', () => {
  it('delivers one ticket, waits with a text for the client, and returns the parsed answer', async () => {
    const test = new Case();
    const program = test.saga();
    const first = await test.start(program);
    expect(test.sent).toMatchObject([
      { to: undefined, isReminder: false, key: 'do:manager/deliver' },
    ]);
    expect(first.steps).toEqual([]);
    expect(first.content).toEqual(['Waiting for approval: manager.']);
    expect(first.retryAfterMs).toBeLessThanOrEqual(30_000);
    test.world.time += 5_000;
    test.answer();
    expect(decided(await test.next(program, first))).toEqual({
      approved: true,
      answers: [
        {
          by: { subject: 'ann' },
          level: 'user',
          at: 6_000,
          shown: 'shown',
          approved: true,
          content: { comment: 'fine' },
        },
      ],
    });
    expect(test.sent).toHaveLength(1);
    expect(test.outside.open).toBe(0);
  });

  it('reads the answers in each turn, also before the next question is due', async () => {
    const test = new Case();
    const program = test.saga();
    const first = await test.start(program);
    test.world.time += 1;
    test.answer();
    expect(decided(await test.next(program, first)).approved).toBe(true);
  });

  it('requires `of` approvals, and ends after `denials` denials', async () => {
    const test = new Case();
    const program = test.saga({ of: 2, denials: 2 });
    const first = await test.start(program);
    test.answer({ by: { subject: 'a' } });
    test.answer({ by: { subject: 'b' }, approved: false });
    const second = suspended(await test.next(program, first));
    test.answer({ by: { subject: 'c' } });
    const decision = decided(await test.next(program, second));
    expect(decision).toMatchObject({
      approved: true,
      answers: [{ approved: true }, { approved: false }, {}],
    });
    const other = new Case();
    const denied = other.saga({ of: 2 });
    const waiting = await other.start(denied);
    other.answer({ by: { subject: 'a' } });
    other.answer({ by: { subject: 'b' }, approved: false, content: {} });
    expect(decided(await other.next(denied, waiting))).toMatchObject({
      approved: false,
      reason: 'denied',
    });
  });

  it('ignores answers that the schema refuses', async () => {
    const test = new Case();
    const program = test.saga();
    const first = await test.start(program);
    test.answer({ content: { comment: 'x' } });
    suspended(await test.next(program, first));
    expect(test.outside.open).toBe(1);
  });

  it('asks again with another link, up to eight links in all, if the schema rejected all answers', async () => {
    const test = new Case();
    const program = test.saga();
    let waiting = await test.start(program);
    expect(test.answer({ content: { comment: 'x' } })).toBe(true);
    waiting = suspended(await test.next(program, waiting));
    expect(test.sent.map(({ key }) => key)).toEqual([
      'do:manager/deliver',
      'do:manager/deliver(v2)|v2',
    ]);
    expect(test.answer({ by: { subject: 'bob' } }, 0)).toBe(false);
    expect(test.answer({}, 1)).toBe(true);
    expect(decided(await test.next(program, waiting)).answers).toHaveLength(1);

    const stubborn = new Case();
    waiting = await stubborn.start(stubborn.saga());
    for (let turns = 0; turns < 20; turns += 1) {
      stubborn.answer({ content: { comment: 'x' } }, stubborn.sent.length - 1);
      waiting = suspended(await stubborn.next(stubborn.saga(), waiting));
    }
    expect(stubborn.sent).toHaveLength(8);
    stubborn.answer({ by: { subject: 'bob' } }, stubborn.sent.length - 1);
    expect(decided(await stubborn.next(stubborn.saga(), waiting)).approved).toBe(true);
  });

  it('counts answers that arrive while the saga decides to ask again', async () => {
    const test = new Case();
    const program = test.saga();
    const first = await test.start(program);
    test.answer({ content: { comment: 'x' } });
    const close = test.outside.close.bind(test.outside);
    test.outside.close = async (...closed) => {
      test.answer({ by: { subject: 'bob' } });
      await close(...closed);
    };
    expect(decided(await test.next(program, first)).answers).toMatchObject([
      { by: { subject: 'bob' } },
    ]);
  });

  it('delivers to each recipient, and reminds only those without an answer', async () => {
    const test = new Case();
    const program = test.saga({ to: ['a', 'b'], of: 2, link: 'accept', remindEvery: 4 * hour });
    const first = await test.start(program);
    expect(test.sent.map(({ to }) => to)).toEqual(['a', 'b']);
    test.answer({ by: 'link' }, 1);
    test.world.time += 4 * hour;
    const second = suspended(await test.next(program, first));
    expect(test.sent.slice(2)).toMatchObject([{ to: 'a', isReminder: true }]);
    expect(test.sent[2]?.url).toBe(test.sent[0]?.url);
    test.answer({ by: 'link' }, 2);
    expect(decided(await test.next(program, second))).toMatchObject({ approved: true });
  });

  it('counts a person once who answers as a user and as the holder of the link', async () => {
    const test = new Case();
    const program = test.saga({ of: 2, link: 'accept', to: ['a', 'b'] });
    const first = await test.start(program);
    test.answer({ by: { subject: 'a' } });
    test.answer({ by: 'link' });
    suspended(await test.next(program, first));
  });

  it('escalates once, to further people, and the tickets of both levels stay valid', async () => {
    const test = new Case();
    const program = test.saga({
      by: { role: 'manager' },
      escalate: [{ after: 2 * hour, by: { role: 'director' }, to: ['d'] }],
    });
    let waiting = await test.start(program);
    test.world.time += hour;
    waiting = suspended(await test.next(program, waiting));
    expect(test.sent).toHaveLength(1);
    test.world.time += hour;
    waiting = suspended(await test.next(program, waiting));
    expect(test.sent.slice(1)).toMatchObject([
      { to: 'd', by: { role: 'director' }, isReminder: false },
    ]);
    test.world.time += hour;
    waiting = suspended(await test.next(program, waiting));
    expect(test.sent).toHaveLength(2);
    expect(test.answer({}, 0)).toBe(true);
    expect(decided(await test.next(program, waiting)).approved).toBe(true);
  });

  it('times out, closes the box, and lists the answers so far', async () => {
    const test = new Case();
    const program = test.saga({ of: 2 });
    const first = await test.start(program);
    test.answer();
    test.world.time += 25 * hour;
    expect(decided(await test.next(program, first))).toMatchObject({
      approved: false,
      reason: 'timeout',
      answers: [{ by: { subject: 'ann' } }],
    });
    expect(test.outside.open).toBe(0);
  });

  it('counts answers to the link of an interrupted turn with a fast clock', async () => {
    const test = new Case();
    const program = test.saga();
    await test.start(program);
    // The process died. Another one repeats the turn, and its clock is behind: the deadline comes
    // earlier.
    test.world.time -= 500;
    const first = await test.start(program);
    test.world.time += 24 * hour;
    expect(test.answer({}, 1)).toBe(false);
    expect(test.answer({}, 0)).toBe(true);
    expect(decided(await test.next(program, first))).toMatchObject({ approved: true });
  });

  it('decides by an answer in time, however late the client returns', async () => {
    const test = new Case();
    const program = test.saga({ remindEvery: hour, escalate: [{ after: 5 * hour }] });
    const first = await test.start(program);
    test.answer();
    test.world.time += 100 * hour;
    expect(decided(await test.next(program, first)).approved).toBe(true);
    expect(test.sent).toHaveLength(1);
  });

  it('decides the same on a fork if an answer arrives between reading and closing', async () => {
    for (const late of [0, 24 * hour]) {
      const test = new Case();
      const program = test.saga();
      const first = await test.start(program);
      if (late === 0) test.answer();
      const close = test.outside.close.bind(test.outside);
      test.outside.close = async (...closed) => {
        const at = Math.min(test.world.time, 1_000 + 24 * hour - 1);
        test.outside.answer(test.url(), at, {
          by: { subject: 'eve' },
          approved: late > 0,
          content: { comment: 'late' },
        });
        await close(...closed);
      };
      test.world.time += late;
      const decision = decided(await test.next(program, first));
      expect(decision.approved).toBe(true);
      expect(decided(await test.next(program, first))).toEqual(decision);
    }
  });

  it('asks again after a change of the question, and ignores answers to the old question', async () => {
    const test = new Case();
    const first = await test.start(test.saga());
    const changed = test.saga({ by: { role: 'director' } });
    test.answer();
    const second = suspended(await test.next(changed, first));
    expect(test.sent.map(({ key }) => key)).toEqual([
      'do:manager/deliver',
      'do:manager/deliver(v2)|v2',
    ]);
    expect(test.answer({ by: { subject: 'bob' } }, 0)).toBe(false);
    test.answer({ by: { subject: 'bob' } }, 1);
    expect(decided(await test.next(changed, second)).answers).toMatchObject([
      { by: { subject: 'bob' } },
    ]);
  });

  it('can be answered after a change of the question and its reversal', async () => {
    const test = new Case();
    const [program, changed] = [test.saga(), test.saga({ by: { role: 'director' } })];
    const first = await test.start(program);
    const second = suspended(await test.next(changed, first));
    const third = suspended(await test.next(program, second));
    expect([test.sent.length, test.answer({}, 0), test.answer({}, 1), test.answer({}, 2)]).toEqual([
      3,
      false,
      false,
      true,
    ]);
    expect(decided(await test.next(program, third)).approved).toBe(true);
  });

  it('records nothing by a link of a changed question that was sent before the old one was closed', async () => {
    const test = new Case();
    const program = test.saga({ remindEvery: hour });
    const changed = test.saga({ remindEvery: hour, by: { role: 'director' } });
    let waiting = await test.start(program);
    test.outside.isDown = true;
    for (let turns = 0; turns < 3; turns += 1) {
      test.world.time += hour;
      waiting = suspended(await test.next(changed, waiting));
    }
    const reminder = test.sent.length - 1;
    expect(test.sent[reminder]?.isReminder).toBe(true);
    test.outside.isDown = false;
    waiting = suspended(await test.next(changed, waiting));
    const links = test.sent.slice(reminder + 1);
    expect(links).toHaveLength(1);
    expect(test.answer({}, reminder)).toBe(false);
    expect(test.answer({}, reminder + 1)).toBe(true);
    expect(decided(await test.next(changed, waiting)).approved).toBe(true);
  });

  it('waits while the store is down', async () => {
    const test = new Case();
    const program = test.saga();
    const first = await test.start(program);
    test.answer();
    test.outside.isDown = true;
    const second = suspended(await test.next(program, first));
    test.world.time += 25 * hour;
    const third = suspended(await test.next(program, second));
    test.outside.isDown = false;
    expect(decided(await test.next(program, third)).approved).toBe(true);
  });

  it('closes the box when a sibling ends the branch, and when the saga is cancelled', async () => {
    const test = new Case();
    const program = sagaOf(function* () {
      const first = yield* race({
        decision: approval('manager', {
          message: 'Refund?',
          timeout: 24 * hour,
          deliver: ({ url }) => void test.sent.push({ url } as Sent),
        }),
        late: sleep(hour),
      });
      return first.winner;
    });
    const first = await test.start(program);
    expect(test.outside.open).toBe(1);
    test.world.time += 2 * hour;
    expect(completed(await test.next(program, first))).toBe('late');
    expect(test.answer()).toBe(false);

    const cancelled = new Case();
    const plain = cancelled.saga();
    const { state } = await cancelled.start(plain);
    const runtime = runtimeOf(cancelled.world, { ...cancelled.settings, turn: 2 });
    const end = { error: new SagaCancelled() };
    failed(await engineOf(plain).advance(overTheWire(state), new Map(), runtime, end));
    expect(cancelled.answer()).toBe(false);
  });

  it('closes the box if changed code without the question ends the saga', async () => {
    const gone = { engine: orphan('test', new Error('gone')) };
    for (const changed of [new Case().saga({ message: 'Other?' }), gone]) {
      const test = new Case();
      const { state } = await test.start(test.saga({ remindEvery: hour }));
      expect(test.outside.open).toBe(1);
      const runtime = runtimeOf(test.world, { ...test.settings, turn: 2 });
      const end = { error: new SagaCancelled() };
      failed(await engineOf(changed).advance(overTheWire(state), new Map(), runtime, end));
      expect(test.answer()).toBe(false);
    }
  });

  it('closes the box if the journal is full', async () => {
    const test = new Case();
    const program = sagaOf(function* () {
      yield* all([
        approval('manager', {
          message: 'Refund?',
          timeout: 24 * hour,
          deliver: ({ url }) => void test.sent.push({ url } as Sent),
        }),
        (function* (): Steps<void> {
          for (let n = 0; ; n += 1) yield* step(`step-${n}`, () => n);
        })(),
      ]);
      return '';
    });
    const settings = { ...test.settings, limits: { maxJournalEntries: 30 } };
    failed(await start(program, {}, test.world, settings));
    expect(test.answer()).toBe(false);
  });

  it.each([0, -1, 1.5, 257, Number.NaN])('refuses %d as a number of answers', async (count) => {
    for (const options of [{ of: count }, { denials: count }]) {
      const test = new Case();
      const outcome = await start(test.saga(options), {}, test.world, test.settings);
      expect(failed(outcome)).toMatchObject({ message: expect.stringContaining('from 1 to 256') });
    }
  });

  it('ends its reminders before they fill the token', async () => {
    const to = ['a', 'b', 'c', 'd'];
    for (const [options, times] of [
      [{}, 400],
      [{ to }, 100],
      [{ to, escalate: [{ after: 1, to: ['e'] }] }, 80],
    ] as const) {
      const test = new Case();
      const program = test.saga({ ...options, remindEvery: 10, timeout: 10 * (times + 5) });
      const numbers = new Set<string>();
      let outcome: Awaited<ReturnType<typeof turn>> = await test.start(program);
      while (outcome.status === 'suspended') {
        test.world.time += 10;
        outcome = await test.next(program, outcome);
      }
      for (const { key, isReminder } of test.sent)
        if (isReminder) numbers.add(/remind\((\d+)\)/.exec(key)?.[1] ?? '');
      expect([numbers.size, numbers.has(`${times}`)]).toEqual([times, true]);
      expect(decided(outcome)).toMatchObject({ approved: false, reason: 'timeout' });
    }
  });

  it('fails on a host without `url`, and names the option', async () => {
    const test = new Case();
    const outcome = await start(test.saga(), {}, test.world, { budget: 25_000, maxHold: 0 });
    const error = failed(outcome) as StepError;
    expect(error).toBeInstanceOf(StepError);
    expect(error.message).toContain('`url`');
    expect(test.world.events.filter(({ type }) => type === 'retrying')).toEqual([]);
  });
});
