import {
  all,
  approval,
  elicit,
  memoryStore,
  sample,
  saga,
  step,
  StepTimedOut,
  waitFor,
  type Json,
  type SagaTurn,
  type StepAnswer,
  type Steps,
} from '@mcp-saga/server';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { accept, hostOf, say, type TestHost } from '../fixtures/host.ts';
import { noise } from '../fixtures/lengths.ts';

const day = 86_400_000;
const base = 'https://shop.example';
const Text = z.object({ text: z.string() });
// The parsed value goes to the stream that is never compressed.
const Parsed = z.object({ text: z.string().transform((text) => `${text}.`) });
const Sure = z.object({ sure: z.boolean().optional() });

/** One call, from its first request to its next question after the doors. */
interface Visit {
  readonly test: TestHost;
  readonly urls: readonly string[];
  readonly text: string;
  turn: SagaTurn;
}

/** A way in which a value comes to a saga. */
interface Door {
  /** Waits for values. */
  readonly wait: (urls: string[]) => Steps<unknown>;
  /** Bytes of a small text, which the door accepts even if nothing is left for another question. */
  readonly small: number;
  /** Sends values of some text. Returns `true` if the door accepted one. */
  readonly send: (visit: Visit) => Promise<boolean>;
}

/** Answers the questions of a turn. The door accepts an answer that is not asked again. */
async function answered(visit: Visit, answers: (stepId: string) => StepAnswer): Promise<boolean> {
  const { host } = visit.test;
  if (visit.turn.status !== 'suspended') return false;
  const asked = visit.turn.steps.map(({ stepId }) => stepId);
  visit.turn = await host.resume(visit.turn.token, asked.map(answers));
  if (visit.turn.status !== 'suspended') return true;
  const again = visit.turn.steps.filter(({ reason }) => reason !== undefined);
  for (const { reason } of again) expect(reason).toMatch(/room for|more than/);
  // The saga holds a small answer, whatever was refused.
  visit.turn = await host.resume(
    visit.turn.token,
    again.map(({ stepId, type }) =>
      type === 'sampling' ? say(stepId, 'no') : accept(stepId, { text: 'no' }),
    ),
  );
  return true;
}

async function posted(
  { test, urls }: Visit,
  bodyOf: () => { readonly body: string; readonly type: string },
  expected: readonly number[],
): Promise<boolean> {
  const statuses: number[] = [];
  for (const url of urls) {
    const { body, type } = bodyOf();
    const request = new Request(url, { method: 'POST', headers: { 'content-type': type }, body });
    const { status } = await test.host.answer(request);
    expect(expected).toContain(status);
    statuses.push(status);
  }
  return statuses.some((status) => status < 300);
}

const form =
  ({ text }: Visit) =>
  (): { readonly body: string; readonly type: string } => ({
    body: new URLSearchParams({ decision: 'approve', f0: text }).toString(),
    type: 'application/x-www-form-urlencoded',
  });
const event =
  ({ text }: Visit) =>
  (): { readonly body: string; readonly type: string } => ({
    body: JSON.stringify({ type: 'paid', text }),
    type: 'application/json',
  });

const approve = (id: string, urls: string[], of = 1): ReturnType<typeof approval> =>
  approval(id, {
    message: 'Go?',
    schema: z.object({ text: z.string().optional() }) as never,
    link: 'accept',
    of,
    to: Array.from({ length: of }, (_, index) => index),
    deliver: ({ url }) => void urls.push(url),
    timeout: day,
  }) as ReturnType<typeof approval>;
const pay = (id: string, urls: string[]): ReturnType<typeof waitFor> =>
  waitFor(id, {
    schema: z.looseObject({ type: z.literal('paid') }),
    register: ({ url }) => void urls.push(url),
    link: 'accept',
    timeout: day,
  });

const doors: { readonly [name: string]: Door } = {
  'an elicitation': {
    small: 800,
    *wait() {
      yield* elicit('one', { message: 'One?', schema: Text });
    },
    send: (visit) => answered(visit, (stepId) => accept(stepId, { text: visit.text })),
  },
  'an elicitation whose schema changes the answer': {
    small: 800,
    *wait() {
      yield* elicit('one', { message: 'One?', schema: Parsed });
    },
    send: (visit) => answered(visit, (stepId) => accept(stepId, { text: visit.text })),
  },
  'two questions in one request': {
    small: 48,
    *wait() {
      const ask = (id: string) => elicit(id, { message: 'Which?', schema: Text });
      yield* all([ask('one'), ask('two'), ask('three')]);
    },
    send: (visit) => answered(visit, (stepId) => accept(stepId, { text: visit.text })),
  },
  'a sample': {
    small: 800,
    *wait() {
      const messages = [
        { role: 'user' as const, content: { type: 'text' as const, text: 'Say.' } },
      ];
      yield* sample('said', { messages, maxTokens: 100 });
    },
    send: (visit) => answered(visit, (stepId) => say(stepId, visit.text)),
  },
  'an answer page': {
    small: 48,
    *wait(urls) {
      yield* approve('go', urls);
    },
    send: (visit) => posted(visit, form(visit), [200, 413]),
  },
  'the answer pages of several people': {
    small: 48,
    *wait(urls) {
      yield* approve('go', urls, 4);
    },
    send: (visit) => posted(visit, form(visit), [200, 413]),
  },
  'a webhook': {
    small: 48,
    *wait(urls) {
      yield* pay('payment', urls);
    },
    send: (visit) => posted(visit, event(visit), [202, 413]),
  },
  'pages and webhooks that wait at the same time': {
    small: 48,
    *wait(urls) {
      yield* all([pay('one', urls), pay('two', urls), pay('three', urls)]);
    },
    send: (visit) => posted(visit, event(visit), [202, 413]),
  },
};

const unit = fc.constantFrom('noise', 'a', 'é', '€', '🙂', '"', '\n', '\u0001');
/** A text, described: a counterexample must not be longer than its cause. */
const value = fc.record({ of: unit, size: fc.oneof(fc.nat(2_000), fc.nat(70_000)) });
const textOf = ({ of, size }: { readonly of: string; readonly size: number }): string =>
  of === 'noise' ? noise(size) : of.repeat(Math.ceil(size / of.length));
/** Bytes of the state before the door, of a token that holds about 48,000. */
const filled = fc.oneof(fc.constant(0), fc.nat(49_000), fc.integer({ min: 44_000, max: 49_000 }));

/** Sends a text through a door. Returns `true` if it was accepted, and how the saga went on. */
async function visited(
  door: Door,
  bytes: number,
  given: string,
): Promise<{ readonly isAccepted: boolean; readonly status: string; readonly undone: unknown }> {
  const urls: string[] = [];
  const undone: string[] = [];
  const visiting = saga({ name: 'visiting', version: '1', reuse: 'ok' }, function* () {
    yield* step('fill', () => noise(bytes), { compensate: () => void undone.push('fill') });
    yield* door.wait(urls);
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return 'done';
  });
  const clock = testClock();
  const outside = { url: base, store: memoryStore({ clock }) };
  const test = hostOf(visiting, { clock, ...outside, limits: { maxHold: 0 } });
  const visit: Visit = { test, urls, text: given, turn: await test.host.start('visiting', {}) };
  // A saga that is too large ends before anybody can answer.
  const isAccepted = visit.turn.status === 'suspended' && (await door.send(visit));
  if (visit.turn.status === 'suspended' && visit.turn.steps.length === 0)
    visit.turn = await test.host.resume(visit.turn.token);
  return { isAccepted, status: visit.turn.status, undone };
}

it.each(Object.entries(doors))('the saga holds each value that %s accepted', async (_, door) => {
  const accepted: number[] = [];
  await fc.assert(
    fc.asyncProperty(value, filled, async (given, bytes) => {
      const { isAccepted, ...went } = await visited(door, bytes, textOf(given));
      if (!isAccepted) return;
      accepted.push(given.size);
      if (went.status === 'suspended') return;
      // Full before: it has no room for its next question even after a small answer.
      expect(await visited(door, bytes, noise(door.small))).toEqual({ isAccepted, ...went });
    }),
    { numRuns: 25, examples: [[{ of: 'noise', size: 3_000 }, 0]] },
  );
  expect(Math.max(...accepted)).toBeGreaterThanOrEqual(3_000);
});

it('the saga holds arguments that the call accepted, and others name the limit of the token', async () => {
  const statuses = new Set<string>();
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      const asks = saga({ name: 'asks', version: '1', input: Text }, function* () {
        yield* elicit('one', { message: 'One?', schema: Text });
        return 'done';
      });
      const { host } = hostOf(asks);
      const sent: Json = { text: textOf(given) };
      const turn = await host.start('asks', sent).catch((error: Error) => error);
      if (turn instanceof Error) {
        expect(turn).toMatchObject({ code: 'invalid_params' });
        statuses.add('refused');
        return;
      }
      expect(turn.status).toBe('suspended');
      statuses.add('suspended');
    }),
    { numRuns: 60, examples: [[{ of: 'noise', size: 60_000 }]] },
  );
  expect([...statuses].toSorted()).toEqual(['refused', 'suspended']);
});

it.each([
  { size: 8_000, status: 'suspended', event: 202 },
  { size: 20_000, status: 'failed', event: 410 },
])(
  'a wait keeps the room for its event from a step of $size bytes in another branch',
  async ({ size, status, event: expected }) => {
    const urls: string[] = [];
    const parallel = saga({ name: 'parallel', version: '1', reuse: 'ok' }, function* () {
      yield* all([pay('payment', urls), step('other', () => noise(size))]);
      return 'done';
    });
    const clock = testClock();
    const outside = { url: base, store: memoryStore({ clock }) };
    const { host } = hostOf(parallel, { clock, ...outside, limits: { maxHold: 0 } });
    let turn = await host.start('parallel', {});
    expect(turn.status).toBe(status);
    const body = JSON.stringify({ type: 'paid', text: noise(30_000) });
    const response = await host.answer(new Request(urls[0] ?? '', { method: 'POST', body }));
    expect(response.status).toBe(expected);
    if (turn.status === 'suspended') turn = await host.resume(turn.token);
    expect(turn.status).toBe(status === 'failed' ? 'failed' : 'completed');
  },
);

it.each([
  { people: 1, times: 8 },
  { people: 10, times: 5 },
  { people: 30, times: 2 },
])(
  'a wait of $people people keeps the room to ask them $times times, however full its token is',
  async ({ people, times }) => {
    const asked = new Set<number>();
    for (let bytes = 0; bytes < 17_000; bytes += 500) {
      const urls: string[] = [];
      const asking = saga({ name: 'asking', version: '1', reuse: 'ok' }, function* () {
        yield* step('fill', () => noise(bytes));
        yield* approval('go', {
          message: 'Go?',
          schema: z.object({ text: z.string() }).refine(() => false),
          link: 'accept',
          to: Array.from({ length: people }, (_, index) => index),
          deliver: ({ url }) => void urls.push(url),
          timeout: day,
        });
        return 'done';
      });
      const clock = testClock();
      const outside = { url: base, store: memoryStore({ clock }) };
      const limits = { maxHold: 0, maxTokenBytes: 24_000 };
      const { host } = hostOf(asking, { clock, ...outside, limits });
      let turn = await host.start('asking', {});
      // A saga without that room asks nobody.
      if (turn.status !== 'suspended') {
        expect(urls).toEqual([]);
        continue;
      }
      for (let time = 1; time <= times + 1 && turn.status === 'suspended'; time += 1) {
        const body = new URLSearchParams({ decision: 'approve', f0: 'x' });
        await host.answer(new Request(urls.at(-1) ?? '', { method: 'POST', body }));
        turn = await host.resume(turn.token);
      }
      expect(turn.status).toBe('suspended');
      asked.add(urls.length / people);
    }
    expect([...asked]).toEqual([times]);
  },
);

it('a wait keeps the room for its event while the delivery of its link is retried', async () => {
  const urls: string[] = [];
  const parallel = saga({ name: 'parallel', version: '1', reuse: 'ok' }, function* () {
    const wait = waitFor('payment', {
      schema: z.looseObject({ type: z.literal('paid') }),
      register: ({ url, attempt }) => {
        if (attempt === 1) throw new Error('The bank is down.');
        urls.push(url);
      },
      link: 'accept',
      timeout: day,
    });
    yield* all([wait, step('other', () => noise(20_000))]);
    return 'done';
  });
  const clock = testClock();
  const outside = { url: base, store: memoryStore({ clock }) };
  const { host } = hostOf(parallel, { clock, ...outside, limits: { maxHold: 0 } });
  expect(await host.start('parallel', {})).toMatchObject({
    status: 'failed',
    error: { code: 'token_too_large' },
  });
  expect(urls).toEqual([]);
});

it.each([{ maxTokenBytes: 65_536 }, { maxTokenBytes: 16_384 }])(
  'a question that is asked accepts a small answer in a token of $maxTokenBytes bytes, however full it is',
  async ({ maxTokenBytes }) => {
    const small = maxTokenBytes / 64;
    const statuses = new Set<string>();
    const most = (maxTokenBytes * 3) / 4;
    for (let bytes = most - 6 * small; bytes < most; bytes += small / 4) {
      const asks = saga({ name: 'asks', version: '1', reuse: 'ok' }, function* () {
        yield* step('fill', () => noise(bytes));
        yield* elicit('one', { message: 'One?', schema: Text });
        return 'done';
      });
      const { host } = hostOf(asks, { limits: { maxTokenBytes } });
      let turn = await host.start('asks', {});
      if (turn.status === 'suspended') {
        const text = noise(small - 64);
        turn = await host.resume(turn.token, [accept('one', { text })]);
        expect(turn).toMatchObject({ status: 'completed' });
      }
      statuses.add(turn.status);
    }
    // The loop has seen a token that was too full for the question.
    expect([...statuses]).toEqual(['completed', 'failed']);
  },
);

it.each([
  {
    title: 'whose journal is longer than its JSON',
    schema: z.looseObject({ type: z.literal('paid') }),
    items: Array.from({ length: 2_500 }, () => ({ $: 1 })),
    told: 413,
  },
  {
    title: 'that its schema makes longer than the room',
    schema: z
      .looseObject({ type: z.literal('paid') })
      .transform((paid) => ({ ...paid, again: noise(40_000) })),
    items: [],
    told: 202,
  },
  {
    title: 'of which its schema makes a value that no journal holds',
    schema: z.looseObject({ type: z.literal('paid') }).transform(() => () => 'code'),
    items: [],
    told: 202,
  },
])('the saga goes on after an event $title', async ({ schema, items, told }) => {
  const urls: string[] = [];
  const paying = saga({ name: 'paying', version: '1', reuse: 'ok' }, function* () {
    yield* step('fill', () => noise(10_000));
    try {
      yield* waitFor('payment', {
        schema: schema as z.ZodType<{ type: 'paid' }>,
        register: ({ url }) => void urls.push(url),
        link: 'accept',
        timeout: 60_000,
      });
    } catch (error) {
      if (!(error instanceof StepTimedOut)) throw error;
      return 'timed out';
    }
    return 'paid';
  });
  const clock = testClock();
  const outside = { url: base, store: memoryStore({ clock }) };
  const { host } = hostOf(paying, { clock, ...outside, limits: { maxHold: 0 } });
  let turn = await host.start('paying', {});
  const body = JSON.stringify({ type: 'paid', items });
  const response = await host.answer(new Request(urls[0] ?? '', { method: 'POST', body }));
  expect(response.status).toBe(told);
  if (turn.status === 'suspended') turn = await host.resume(turn.token);
  expect(turn.status).toBe('suspended');
  clock.now += 60_000;
  if (turn.status === 'suspended') turn = await host.resume(turn.token);
  expect(turn).toMatchObject({ status: 'completed', result: 'timed out' });
});
