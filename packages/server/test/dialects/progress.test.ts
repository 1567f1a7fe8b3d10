import { elicit, progress, saga, step } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { post, read } from '../fixtures/raw.ts';
import { Empty } from '../fixtures/sagas.ts';

const accept = { action: 'accept', content: {} };

/** Tells where it is in each of three turns, and once something that would fall back. */
const moving = saga({ name: 'moving', version: '1' }, function* () {
  yield* progress(1, 5, 'begun');
  yield* elicit('one', { message: 'One?', schema: Empty });
  yield* progress(2, 5);
  yield* progress(1, 5, 'back again');
  yield* step('work', () => 1);
  yield* elicit('two', { message: 'Two?', schema: Empty });
  yield* progress(5, 5, 'done');
  return 'moved';
});

// Each reading of the clock is a minute later, so that nothing is held back.
function patient(): () => number {
  let now = Date.now();
  return () => {
    now += 60_000;
    return now;
  };
}

describe.each(connections.filter(({ name }) => name.includes('in memory')))(
  '$name',
  ({ connect }) => {
    test('[W5] progress increases over all questions that are pushed within one call', async () => {
      const clock = Object.assign(patient(), { now: 0 });
      const { client, close } = await connect(
        hostOf(moving, { clock, limits: { turnBudget: 1e12 } }).host,
      );
      answerBy(client, { elicit: () => accept });
      const seen: number[] = [];
      const call = { name: 'moving', arguments: {} };
      const onprogress = (told: { readonly progress: number }): void =>
        void seen.push(told.progress);
      // The versions differ in where the options stand.
      const calling = client as { callTool(...args: readonly unknown[]): Promise<unknown> };
      await ('getProtocolEra' in client
        ? calling.callTool(call, { onprogress })
        : calling.callTool(call, undefined, { onprogress }));
      expect(seen).toEqual([1, 2, 5]);
      await close();
    });

    test('[W5] the last value before a question arrives before the question', async () => {
      const busy = saga({ name: 'busy', version: '1' }, function* () {
        for (let value = 1; value <= 25; value += 1) yield* progress(value);
        yield* elicit('one', { message: 'One?', schema: Empty });
        return 'done';
      });
      const { client, close } = await connect(hostOf(busy).host);
      const seen: number[] = [];
      let before: number | undefined;
      answerBy(client, { elicit: () => ((before = seen.at(-1)), accept) });
      const call = { name: 'busy', arguments: {} };
      const onprogress = (told: { readonly progress: number }): void =>
        void seen.push(told.progress);
      const calling = client as { callTool(...args: readonly unknown[]): Promise<unknown> };
      await ('getProtocolEra' in client
        ? calling.callTool(call, { onprogress })
        : calling.callTool(call, undefined, { onprogress }));
      expect(before).toBe(25);
      await close();
    });
  },
);

test('[W5] progress increases over the rounds of a call, with the token of each', async () => {
  const server = serveSagas({
    name: 'test',
    version: '1',
    sagas: [moving],
    keys: 'ephemeral',
    testing: { clock: patient() },
    limits: { turnBudget: 1e12, tokenTtl: 1e11, maxLifetime: 1e12 },
    hooks: { onWarning: () => undefined },
  });
  const told: unknown[] = [];
  const round = async (progressToken: string, more: object): Promise<Record<string, unknown>> => {
    const params = { name: 'moving', arguments: {}, ...more, _meta: { progressToken } };
    const headers = { 'mcp-name': 'moving' };
    const { messages, last } = await read(
      await server.fetch(post('modern', 'tools/call', params, 1, { headers })),
    );
    for (const { method, params: sent } of messages.slice(0, -1)) {
      if (method === 'notifications/progress')
        told.push([sent?.['progressToken'], sent?.['progress']]);
    }
    return last.result ?? {};
  };
  const one = await round('a', {});
  const answered = (key: string, { requestState }: Record<string, unknown>): object => ({
    requestState,
    inputResponses: { [key]: accept },
  });
  const two = await round('b', answered('one', one));
  const three = await round('c', answered('two', two));
  expect(three).toMatchObject({ content: [{ text: 'moved' }] });
  expect(told).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 5],
  ]);
});
