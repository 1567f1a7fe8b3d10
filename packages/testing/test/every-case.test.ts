import { elicit, saga, step } from '@mcp-saga/server';
import {
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  testSaga,
  type ExploredCase,
} from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const order = saga({ name: 'order', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  yield* step('pay', ({ idempotencyKey }) => idempotencyKey, {
    compensate: ({ idempotencyKey }) => idempotencyKey,
  });
  yield* step('ship', ({ idempotencyKey }) => idempotencyKey);
  return 'shipped';
});
const script = testSaga(order);

it('[E1] reports each case of an explorer once, with its script and its trace', async () => {
  const seen: ExploredCase[] = [];
  const { cases } = await crashEverywhere(script, { onCase: (each) => void seen.push(each) });
  expect(seen).toHaveLength(cases);
  expect(seen.map(({ when }) => when)).toContain("When the process dies before 'pay'");
  for (const { what, script: disturbed, trace } of seen) {
    expect(what).toBeUndefined();
    expect(disturbed.rules).toHaveLength(1);
    expect(trace.at(-1)?.type).toBe('completed');
  }
});

it('[E3] reports the finding of each failing case, and the passing cases', async () => {
  const seen: ExploredCase[] = [];
  const exploring = failEverywhere(script, { onCase: (each) => void seen.push(each) });
  await expect(exploring).rejects.toMatchObject({ code: 'violated' });
  const red = seen.filter(({ what }) => what !== undefined);
  expect(new Set(red.map(({ when }) => when)).size).toBe(red.length);
  expect(red.length).toBeGreaterThan(0);
  expect(red.length).toBeLessThan(seen.length);
  expect(red.every(({ expects }) => expects !== undefined)).toBe(true);
});

it('starts no case of an explorer before the receiver of the last one has ended', async () => {
  const events: string[] = [];
  const watched = saga({ name: 'watched', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
    yield* step('ship', ({ idempotencyKey }) => events.push(`ran ${idempotencyKey}`));
    return 'shipped';
  });
  const { cases } = await crashEverywhere(testSaga(watched), {
    harmless: ['ship'],
    onCase: async ({ when }) => {
      events.push(when);
      await new Promise(setImmediate);
      events.push('ended');
    },
  });
  const received = events.filter((event) => !event.startsWith('ran'));
  expect(received).toHaveLength(2 * cases);
  const ends = events.flatMap((event, at) => (event === 'ended' ? [at] : []));
  expect(ends.map((at) => events[at - 1])).toEqual(received.filter((event) => event !== 'ended'));
});

it('fails with the error of a receiver, which gets its case once and is no finding', async () => {
  const seen: string[] = [];
  const full = new Error('disk full');
  for (const explore of [crashEverywhere, failEverywhere]) {
    seen.length = 0;
    const exploring = explore(script, {
      onCase: async ({ when }) => {
        seen.push(when);
        throw await Promise.resolve(full);
      },
    });
    await expect(exploring).rejects.toBe(full);
    expect(new Set(seen).size).toBe(seen.length);
  }
});

it('reports an answer that the form rejects as a passing case', async () => {
  const name = z.object({ name: z.string().refine((text) => text !== '') });
  const strict = saga({ name: 'strict', version: '1' }, function* () {
    yield* elicit('name', { message: 'Name?', schema: name });
    return 'done';
  });
  const seen: ExploredCase[] = [];
  await refuseEverywhere(testSaga(strict).on.elicit('name', { name: 'x' }), {
    onCase: (each) => void seen.push(each),
  });
  const rejected = seen.filter(({ trace }) =>
    trace.lines.some((line) => line.startsWith('asked name again')),
  );
  expect(rejected).not.toEqual([]);
  expect(seen.filter(({ what }) => what !== undefined)).toEqual([]);
});
