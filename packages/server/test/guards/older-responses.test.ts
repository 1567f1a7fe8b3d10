import { createKeyRing, createSealer } from '@mcp-saga/seal';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryGuard,
  saga,
  step,
  type SagaGuard,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import { answer, Ok } from './guarded-hosts.ts';

test('[T13] older releases read the response of a failed turn, and newer ones read theirs', async () => {
  const keys = generateKey();
  const sealer = createSealer({ ring: createKeyRing(keys), audience: 'shop' });
  const memory = memoryGuard();
  const residues: unknown[] = [];
  /** Keeps a response as an older release does. */
  const finish: SagaGuard['finish'] = async (fence, response) => {
    const { sid, claims, streams } = await sealer.open(response, { purpose: 'response' });
    const { uncompensated, ...turn } = JSON.parse(new TextDecoder().decode(streams[0])) as {
      readonly uncompensated: unknown;
      readonly residue: unknown;
    };
    residues.push(turn.residue);
    const older = JSON.stringify({ ...turn, residue: uncompensated });
    return await memory.finish(
      fence,
      await sealer.seal('response', sid, claims, [{ bytes: older, compress: false }]),
    );
  };
  const order = saga({ name: 'order', version: '1', forks: 'refuse' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Ok });
    yield* step('charge', () => 'paid', {
      compensate: () => {
        throw new Error('No refunds.');
      },
    });
    throw new Error('Out of stock.');
  });
  const host = createSagaHost({
    sagas: [order],
    keys,
    audience: 'shop',
    guard: { store: { ...memory, finish } },
    hooks: { onError: () => undefined, onTurn: () => undefined },
  });
  const { token } = suspended(await host.start('order', {}));
  const failed = { status: 'failed', uncompensated: [{ stepId: 'charge' }] };
  expect(await host.resume(token, answer('sure'))).toMatchObject(failed);
  const again = await host.resume(token, answer('sure'));
  expect(again).toMatchObject(failed);
  expect(again).not.toHaveProperty('residue');
  expect(residues.at(-1)).toEqual(failed.uncompensated);
});
