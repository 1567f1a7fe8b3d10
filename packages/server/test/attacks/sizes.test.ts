import { elicit, generateKey, memoryStore, saga, step } from '@mcp-saga/server';
import { isClearlyLargerThan, isLargerThan } from '@mcp-saga/core/program';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createHostCore } from '../../src/requests/host.ts';
import { suspended } from '../fixtures/host.ts';

/** A megabyte of JSON whose reads are counted: members are made when they are read. */
function countedMegabyte() {
  const counted = { reads: 0 };
  const items = Array.from({ length: 20_000 }, (_, index) => `item ${index} ${'x'.repeat(40)}`);
  const value = new Proxy(items, {
    get: (target, key, receiver): unknown => {
      if (typeof key === 'string' && /^\d+$/.test(key)) counted.reads += 1;
      return Reflect.get(target, key, receiver);
    },
  });
  return { counted, value };
}

function hostOf() {
  const ran: string[] = [];
  const asking = saga({ name: 'asking', version: '1', input: z.looseObject({}) }, function* () {
    yield* elicit('one', { message: 'One?', schema: z.looseObject({}) });
    yield* step('ran', () => void ran.push('ran'));
    return 'done';
  });
  const rejected: string[] = [];
  const host = createHostCore({
    sagas: [asking],
    keys: generateKey(),
    name: 'asking',
    store: memoryStore(),
    hooks: { onReject: ({ reason }) => void rejected.push(reason) },
  });
  return { host, ran, rejected };
}

// As many items as fit the limit of arguments, 64 KiB, or of an answer, 256 KiB.
const mostArguments = 1_500;
const mostAnswers = 6_000;

test('[T11] accepts arguments up to their limit, at the start and beside a token', async () => {
  const { host, ran } = hostOf();
  const { token } = suspended(await host.start('asking', {}));
  const calls = [
    (args: unknown) => host.start('asking', args),
    (args: unknown) => host.resume(token, [], {}, { entry: { target: 'asking', args } }),
  ];
  for (const call of calls) {
    const { counted, value } = countedMegabyte();
    await expect(call({ value })).rejects.toThrow('arguments: more than 65536 bytes');
    expect(counted.reads).toBeLessThanOrEqual(mostArguments);
  }
  expect(ran).toEqual([]);
});

test('[T11] accepts an answer up to its limit, and asks again over the limit', async () => {
  const { host, ran } = hostOf();
  const { token } = suspended(await host.start('asking', {}));
  const bodies = [
    (value: unknown) => ({ result: { action: 'accept', content: { value } } }),
    (value: unknown) => ({ error: { code: 1, message: 'no', data: { value } } }),
  ];
  for (const body of bodies) {
    const { counted, value } = countedMegabyte();
    const again = suspended(await host.resume(token, [{ stepId: 'one', ...body(value) }] as never));
    expect(again.steps[0]?.reason).toBe('it has more than 262144 bytes');
    expect(counted.reads).toBeLessThanOrEqual(mostAnswers);
  }
  expect(ran).toEqual([]);
  const sent = [{ stepId: 'one', result: { action: 'accept', content: {} } }];
  expect(await host.resume(token, sent)).toMatchObject({ status: 'completed' });
});

test('[T11] measures a value below the limit in a single pass', () => {
  const { counted, value } = countedMegabyte();
  expect(isLargerThan(10_000_000, value)).toBe(false);
  expect(counted.reads).toBe(value.length);
});

test('[T11] measures values between the bounds by their JSON', () => {
  const value = {
    text: '\u0001'.repeat(100),
    list: [true, null, -1.5e-300, undefined],
    gone: undefined,
  };
  const { length } = JSON.stringify(value);
  expect(isLargerThan(length, value as never)).toBe(false);
  expect(isLargerThan(length - 1, value as never)).toBe(true);
});

test('[W4] ignores a repeated answer that exceeds a lowered limit', async () => {
  const two = saga({ name: 'two', version: '1', reuse: 'ok' }, function* () {
    const { text } = yield* elicit('one', {
      message: 'One?',
      schema: z.object({ text: z.string() }),
    });
    yield* elicit('more', { message: 'More?', schema: z.object({}) });
    return String(text.length);
  });
  const keys = generateKey();
  const ignored: string[] = [];
  const hostWith = (maxTokenBytes: number) =>
    createHostCore({
      sagas: [two],
      keys,
      name: 'two',
      limits: { maxTokenBytes },
      hooks: { onIgnoredAnswer: ({ stepId }) => void ignored.push(stepId) },
    });
  const old = hostWith(65_536);
  const one = {
    stepId: 'one',
    result: { action: 'accept', content: { text: 'x'.repeat(30_000) } },
  };
  const more = { stepId: 'more', result: { action: 'accept', content: {} } };
  const { token } = suspended(await old.start('two', {}));
  const second = suspended(await old.resume(token, [one]));
  expect(await hostWith(5_000).resume(second.token, [one, more])).toMatchObject({
    status: 'completed',
    result: '30000',
  });
  expect(ignored).toEqual(['one']);
  const other = { ...one, result: { action: 'accept', content: { text: 'y' } } };
  await expect(hostWith(5_000).resume(second.token, [other])).rejects.toMatchObject({
    code: 'answer_conflict',
  });
});

test('[T4] [T11] does not decode a long or malformed token', async () => {
  const { host, rejected } = hostOf();
  const { token } = suspended(await host.start('asking', {}));
  const [header = ''] = token.split('.');
  const large = 'A'.repeat(1_000_000);
  const tokens = [large, `${header}..${large}`, `${token}${large}`];
  for (const sent of tokens) {
    await expect(host.resume(sent, [])).rejects.toMatchObject({ code: 'refused' });
    await expect(host.cancel(sent)).rejects.toMatchObject({ code: 'refused' });
  }
  expect(new Set(rejected)).toEqual(new Set(['too_large']));
});

test('[T11] stops measuring a list that contains only itself', async () => {
  const { host } = hostOf();
  const list: unknown[] = [];
  list.push(list);
  await expect(host.start('asking', { list })).rejects.toMatchObject({ code: 'invalid_params' });
  const { token } = suspended(await host.start('asking', {}));
  const again = suspended(await host.resume(token, [{ stepId: 'one', result: list as never }]));
  expect(again.steps[0]?.reason).toBe('it has more than 262144 bytes');
});

test('[T11] never measures a value as larger than its JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(200), (value, limit) => {
      const length = JSON.stringify(value).length;
      expect(isClearlyLargerThan(length, value)).toBe(false);
      expect(isLargerThan(limit, value as never)).toBe(
        new TextEncoder().encode(JSON.stringify(value)).length > limit,
      );
    }),
    { numRuns: 1_000 },
  );
});
