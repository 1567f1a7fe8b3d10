import {
  all,
  approval,
  elicit,
  pivot,
  saga,
  step,
  waitFor,
  type StepContext,
} from '@mcp-saga/server';
import type { Delivery } from '@mcp-saga/server/stores';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { messageOf } from './support/error-of.ts';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  SagaTestError,
  testSaga,
} from '../src/index.ts';

const hour = 3_600_000;
const sent: string[] = [];
beforeEach(() => void sent.splice(0));

const Comment = z.object({ comment: z.string().optional() });

const refund = saga({ name: 'refund', version: '1' }, function* () {
  yield* step('reserve', ({ idempotencyKey }: StepContext<undefined>) => idempotencyKey, {
    compensate: ({ stepKey }) => void stepKey,
  });
  const decision = yield* approval('manager', {
    message: 'Refund 5 EUR?',
    schema: Comment,
    of: 2,
    to: ['ann', 'bob', 'cy'],
    deliver: ({ to, isReminder, idempotencyKey }) =>
      void sent.push(`${isReminder ? 'reminds' : 'asks'} ${String(to)} by ${idempotencyKey}`),
    remindEvery: 4 * hour,
    timeout: 24 * hour,
  });
  if (!decision.approved) throw new Error(`not approved: ${decision.reason}`);
  yield* pivot('pay');
  yield* step('pay', ({ idempotencyKey }: StepContext<undefined>) => idempotencyKey, {
    retry: 10,
  });
  return decision.answers.map(({ by }) => (by === 'link' ? by : by.subject)).join();
});

const patient = saga({ name: 'patient', version: '1' }, function* () {
  const decision = yield* approval('manager', {
    message: 'Refund 5 EUR?',
    of: 2,
    denials: 2,
    to: ['ann', 'bob', 'cy'],
    deliver: ({ to, idempotencyKey }) => void sent.push(`${to} by ${idempotencyKey}`),
    remindEvery: 4 * hour,
    timeout: 24 * hour,
  });
  return String(decision.approved);
});

const Payment = z.object({ status: z.literal('paid') });
const order = saga({ name: 'order', version: '1' }, function* () {
  const { status } = yield* waitFor('payment', {
    schema: Payment,
    register: ({ url }) => void sent.push(url),
    link: 'accept',
    timeout: 24 * hour,
  });
  return status;
});

const codeOf = async (run: Promise<unknown>): Promise<unknown> =>
  await run.then(
    () => 'passed',
    (error: unknown) => (error instanceof SagaTestError ? error.code : error),
  );

describe('an approval in a script', () => {
  it('counts one answer of each person', async () => {
    const approve = { by: 'ann', after: 1 };
    const run = await testSaga(patient)
      .on.approval('manager', [approve, { ...approve, after: 2 }])
      .run();
    expect(run.result).toBe('false');
  });

  it('is approved by all people', async () => {
    const run = await testSaga(refund).on.approval('manager', true).run();
    expect(run.result).toBe('person-1,person-2');
    expect(sent).toHaveLength(3);
    expect(run.warnings).toEqual([]);
  });

  it('is denied by all people, and the steps are undone', async () => {
    const run = await testSaga(refund).on.approval('manager', false).run();
    expect([run.status, run.compensated]).toEqual(['failed', ['reserve']]);
  });

  it('is answered by people at different times, and only the others get reminders', async () => {
    const run = await testSaga(refund)
      .on.approval('manager', [
        { by: 'ann', after: hour },
        { by: 'bob', after: 9 * hour, content: { comment: 'late' } },
      ])
      .run();
    expect(run.result).toBe('ann,bob');
    expect(sent.filter((line) => line.startsWith('reminds ann'))).toEqual([]);
    expect(sent.filter((line) => line.startsWith('reminds'))).toHaveLength(4);
  });

  it('requires two people', async () => {
    const run = await testSaga(refund).on.approval('manager', { by: 'ann' }).run();
    expect(run.status).toBe('failed');
  });

  it('times out without answers, or with late answers only', async () => {
    const silent = await testSaga(refund).silent.approval('manager').run();
    const late = await testSaga(refund)
      .on.approval('manager', true)
      .late.approval('manager', 25 * hour)
      .run();
    expect([silent.status, late.status]).toEqual(['failed', 'failed']);
    expect(silent.points.length).toBeLessThan(20);
  });

  it('requires an answer in the script', async () => {
    expect(await codeOf(testSaga(refund).run())).toBe('unanswered');
    expect(await codeOf(testSaga(order).run())).toBe('unanswered');
  });

  it('prints its source', () => {
    const script = testSaga(refund)
      .on.approval('manager', [{ by: 'ann', after: 5 }])
      .silent.approval('other');
    expect(script.source).toContain(".on.approval('manager', { by: 'ann', after: 5 })");
    expect(script.source).toContain(".silent.approval('other')");
  });

  it('refuses an unknown field', () => {
    expect(() => testSaga(refund).on.approval('manager', { aproved: true } as never)).toThrow(
      /approved/,
    );
  });
});

describe('a stand-in for a delivery', () => {
  it('replaces `deliver` of an approval, and gets the link, the recipient, and the key', async () => {
    const got: unknown[] = [];
    const run = await testSaga(refund)
      .on.step(
        'manager/deliver',
        ({ url, to, isReminder, idempotencyKey }: Delivery<string>) =>
          void got.push([to, isReminder, url.includes('/saga/answer/'), idempotencyKey]),
      )
      .on.step('manager/remind', 'ignored')
      .on.approval('manager', [
        { by: 'ann', after: 5 * hour },
        { by: 'bob', after: 6 * hour },
      ])
      .run();
    expect(run.result).toBe('ann,bob');
    expect(sent).toEqual([]);
    expect(got).toHaveLength(3);
    expect(got[0]).toEqual(['ann', false, true, 'do:manager/deliver']);
  });

  it('replaces `register` of an event', async () => {
    const urls: string[] = [];
    const run = await testSaga(order)
      .on.step(
        'payment/register',
        async ({ url, sleep }: { url: string; sleep: (ms: number) => Promise<void> }) => {
          await sleep(hour);
          urls.push(url);
        },
      )
      .on.event('payment', { status: 'paid' })
      .run();
    expect([run.result, urls.length, sent.length]).toEqual(['paid', 1, 0]);
  });

  it.each(['answers', 'close'])('is refused for the work of the engine: %s', async (work) => {
    const script = testSaga(refund).on.step(`manager/${work}`, 'x').silent.approval('manager');
    expect(await codeOf(script.run())).toBe('script');
  });
});

describe('a store of answers that is down permanently', () => {
  it.each(['answers', 'close'])('is read in few turns: %s', async (work) => {
    const script = testSaga(refund).silent.approval('manager');
    const run = await script.fail.step(`manager/${work}`, new Error('down')).run();
    expect(run.status).toBe('failed');
    // Reminders come every 4 of 24 hours.
    expect(run.points.length).toBeLessThan(20);
    expect(sent.filter((line) => line.startsWith('reminds'))).toHaveLength(15);
    if (work === 'close') expect(run.error).toMatchObject({ name: 'StepTimedOut' });
  });

  it('is read again at its interval if it is down for some questions only', async () => {
    const run = await testSaga(refund)
      .on.approval('manager', true)
      .fail.step('manager/answers', new Error('down'), { times: 3 })
      .run();
    expect(run.result).toBe('person-1,person-2');
    expect(run.points.length).toBeGreaterThanOrEqual(3);
    const [first, last] = [run.points[0], run.points.at(-1)];
    expect((last?.time ?? 0) - (first?.time ?? 0)).toBeLessThan(hour);
  });
});

describe('an event in a script', () => {
  it('arrives', async () => {
    const run = await testSaga(order)
      .on.event('payment', { status: 'paid' }, { after: hour })
      .run();
    expect(run.result).toBe('paid');
    expect(sent).toHaveLength(1);
  });

  it('is missing', async () => {
    expect((await testSaga(order).silent.event('payment').run()).status).toBe('failed');
  });
});

describe('explorers of answers from outside', () => {
  const script = testSaga(refund).on.approval('manager', true);

  it.each([
    ['crashEverywhere', crashEverywhere],
    ['failEverywhere', failEverywhere],
    ['refuseEverywhere', refuseEverywhere],
    ['forkEverywhere', forkEverywhere],
  ] as const)('%s finds no violation in a sound saga', async (_, explore) => {
    expect((await explore(script)).cases).toBeGreaterThan(0);
  });

  it('crashEverywhere passes reminders that skip a person who has answered', async () => {
    const staggered = script.on.approval('manager', [
      { by: 'ann' },
      { by: 'bob', after: hour },
      { by: 'cy', after: 5 * hour },
    ]);
    expect((await crashEverywhere(staggered)).cases).toBeGreaterThan(0);
    const ofThree = testSaga(patient).on.approval('manager', [
      { by: 'ann' },
      { by: 'bob', approved: false, after: hour },
      { by: 'cy', after: 5 * hour },
    ]);
    const run = await ofThree.run();
    expect(run.effects.map(({ id }) => id)).toEqual([
      'manager/deliver',
      'manager/deliver#2',
      'manager/deliver#3',
      'manager/remind(1)#3',
    ]);
    expect((await crashEverywhere(ofThree)).cases).toBeGreaterThan(0);
  });

  it('crashEverywhere finds a delivery that ignores its idempotency key', async () => {
    const careless = saga({ name: 'careless', version: '1' }, function* () {
      const { approved } = yield* approval('manager', {
        message: 'Sure?',
        deliver: ({ url }) => void sent.push(url),
        timeout: hour,
      });
      return String(approved);
    });
    const asked = testSaga(careless).on.approval('manager', { after: 60_000 });
    expect(await codeOf(crashEverywhere(asked))).toBe('violated');
    // Neither `once` nor `reads` is an option of an approval.
    expect(await messageOf(crashEverywhere(asked))).toMatch(/^(?!.*once: true).*mail\.send\(url/s);
    const { cases } = await crashEverywhere(asked, { harmless: ['manager/deliver'] });
    expect(cases).toBeGreaterThan(0);
  });

  it('assertDeterministic finds no difference if answers arrive in time, late, or never', async () => {
    const [ann, bob] = [
      { by: 'ann', after: hour },
      { by: 'bob', after: 9 * hour },
    ];
    await assertDeterministic(testSaga(refund).on.approval('manager', [ann, bob]));
    const late = 'not approved: timeout';
    await assertDeterministic(testSaga(refund).on.approval('manager', ann).expectFailure(late));
    await assertDeterministic(
      testSaga(refund)
        .on.approval('manager', [ann, bob])
        .late.approval('manager', 5 * hour),
    );
    await assertDeterministic(testSaga(refund).silent.approval('manager').expectFailure(late));
    await assertDeterministic(
      testSaga(order).on.event('payment', { status: 'paid' }, { after: hour }),
    );
  });

  it('assertDeterministic finds an approval that asks for something else in each run', async () => {
    let runs = 0;
    const varying = saga({ name: 'varying', version: '1' }, function* () {
      runs += 1;
      const message = `Request ${runs}?`;
      const { approved } = yield* approval('manager', {
        message,
        deliver: () => undefined,
        timeout: hour,
      });
      return String(approved);
    });
    const asked = testSaga(varying).on.approval('manager', { after: 60_000 });
    expect(await codeOf(assertDeterministic(asked))).toBe('not_deterministic');
  });

  it('refuseEverywhere finds a reservation without an undo if no answer arrives', async () => {
    const careless = saga({ name: 'careless', version: '1' }, function* () {
      yield* step('reserve', ({ idempotencyKey }: StepContext<undefined>) => idempotencyKey);
      const { approved } = yield* approval('manager', {
        message: 'Sure?',
        deliver: () => undefined,
        timeout: hour,
      });
      if (!approved) throw new Error('not approved');
      return 'done';
    });
    expect(await codeOf(refuseEverywhere(testSaga(careless)))).toBe('violated');
  });

  it('asks the client and other people in one turn', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const { sure, manager } = yield* all({
        sure: elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) }),
        manager: approval('manager', { message: 'Ok?', deliver: () => undefined, timeout: hour }),
      });
      return `${sure.sure} ${manager.approved}`;
    });
    const run = await testSaga(both)
      .on.elicit('sure', { sure: true })
      .on.approval('manager', true)
      .run();
    expect(run.result).toBe('true true');
  });
});
