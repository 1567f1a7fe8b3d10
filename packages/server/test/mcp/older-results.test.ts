import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { served, toCallResult } from '../fixtures/calling.ts';
import { ask, post, read, type Fetches } from '../fixtures/raw.ts';
import { Target } from '../fixtures/sagas.ts';
import { keyField } from '../starts/shop.ts';

const accepting = { answerers: { model: 'accept' } } as const;

test('an older version without output still returns its content, as it did before the newer version has an output', async () => {
  const old = saga({ name: 'chart', version: '1' }, function* () {
    yield* elicit('target', { message: 'Where?', schema: Target });
    return { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] } as never;
  });
  const newer = saga(
    {
      name: 'chart',
      version: '2',
      output: z.object({ sum: z.number() }),
      previous: [{ saga: old }],
    },
    function* () {
      yield* step('s', () => 1);
      return { sum: 1 };
    },
  );
  const call = async (at: ReturnType<typeof served>['server'], args: object) =>
    toCallResult(
      (await ask(at, 'legacy', 'tools/call', { name: 'chart', arguments: args })).last.result ?? {},
    );
  const first = await call(served([old], accepting).server, {});
  const last = await call(served([newer], accepting).server, {
    resumeToken: first.token,
    answers: { target: { target: 'x' } },
  });
  expect(last.result['content']).toMatchObject([{ type: 'image' }]);
});

test('a repeated call of an older version, which asks, does not end it after the newer version never suspends', async () => {
  const undone: string[] = [];
  const old = saga({ name: 'order', version: '1' }, function* () {
    yield* step('charge', () => 1, { compensate: () => void undone.push('charge') });
    const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
    return `to ${target}`;
  });
  const newer = saga(
    { name: 'order', version: '2', suspends: false, previous: [{ saga: old }] },
    function* () {
      yield* step('charge', () => 1);
      return 'new';
    },
  );
  const store = memoryStore();
  const changes = { ...accepting, store, anonymous: { starts: 'accept' } } as const;
  const params = {
    name: 'order',
    arguments: {},
    _meta: { [keyField]: 'abcdefghijklmnopqrstuvwxyz' },
  };
  const callAt = async (at: Fetches) =>
    JSON.stringify(
      (
        await read(
          await at.fetch(
            post('modern', 'tools/call', params, 1, { headers: { 'mcp-name': 'order' } }),
          ),
        )
      ).last,
    );
  const before = served([old], changes);
  const first = await callAt(before.server);
  expect(first).toContain('Where?');
  expect(await callAt(before.server)).toContain('Where?');
  const after = served([newer], changes);
  expect([await callAt(after.server), undone]).toEqual([expect.stringContaining('Where?'), []]);
  expect(undone).toEqual([]);
});
