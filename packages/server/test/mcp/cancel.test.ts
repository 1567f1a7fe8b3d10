import { callSaga, cancelSaga, startSaga, type CallToolResult } from '@mcp-saga/client';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';

const Sure = z.object({ sure: z.boolean() });
const key = 'io.github.mcp-saga/saga';

/** Books, asks, and continues. Undos are recorded. */
function booking(undoes: boolean) {
  const undone: string[] = [];
  const book = saga({ name: 'book', version: '1' }, function* () {
    if (undoes) {
      yield* step('room', () => 7, {
        label: 'room 7',
        compensate: ({ result }) => void undone.push(`room ${result}`),
      });
      yield* step('meal', () => 1, {
        undo: { retry: 1 },
        compensate: () => Promise.reject(new Error('secret')),
      });
    }
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return 'booked';
  });
  return { undone, book };
}

const textOf = (result: CallToolResult): string =>
  String((result.content[0] as { readonly text?: unknown }).text);

describe.each(connections)('$name', ({ connect }) => {
  test('[E6] cancels a saga, and lists the compensated and the uncompensated steps', async () => {
    const { undone, book } = booking(true);
    const { host } = hostOf(book, { store: memoryStore(), starts: { unkeyed: 'run' } });
    const { client, close } = await connect(host);
    const turn = await startSaga(client, { name: 'book' });
    if (turn.status !== 'suspended') throw new Error('not asked');
    const result = await cancelSaga(client, turn.saga, { reason: 'rain' });
    expect(undone).toEqual(['room 7']);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(
      "The call was cancelled: rain. Undone: 'room' (room 7). Not undone, and left as it is: 'meal'.",
    );
    expect(result['_meta']).toMatchObject({
      [key]: {
        compensated: [{ stepId: 'room', label: 'room 7' }],
        uncompensated: [{ stepId: 'meal' }],
      },
    });
    expect(JSON.stringify(result)).not.toContain('secret');
    await expect(turn.saga.resume([])).rejects.toMatchObject({ code: 'saga_gone' });
    await close();
  });

  test('[E7] announces tools/cancelSaga with a store, and refuses it without', async () => {
    const offered = await connect(hostOf(booking(true).book, { store: memoryStore() }).host);
    const methods = (client: typeof offered.client): unknown =>
      (client.getServerCapabilities()?.extensions?.[key] as { methods: unknown } | undefined)
        ?.methods;
    expect(methods(offered.client)).toEqual([
      'tools/callSaga',
      'tools/resumeSaga',
      'tools/cancelSaga',
    ]);
    await offered.close();

    const plain = await connect(hostOf(booking(false).book).host);
    expect(methods(plain.client)).toEqual(['tools/callSaga', 'tools/resumeSaga']);
    const turn = await startSaga(plain.client, { name: 'book' });
    if (turn.status !== 'suspended') throw new Error('not asked');
    await expect(cancelSaga(plain.client, turn.saga)).rejects.toMatchObject({
      code: 'sagas_not_supported',
    });
    const elicitation = () => ({ action: 'accept', content: { sure: true } }) as const;
    expect(
      textOf(await callSaga(plain.client, { name: 'book' }, { handlers: { elicitation } })),
    ).toBe('booked');
    await plain.close();
  });
});
