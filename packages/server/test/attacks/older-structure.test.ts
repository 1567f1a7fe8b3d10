import { createKeyRing, createSealer, generateKey } from '@mcp-saga/seal';
import { elicit, createSagaHost, saga } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { suspended } from '../fixtures/host.ts';
import { sealSagaAs, toSealedSaga } from '../../src/token/sealed-saga.ts';

// Longer than the padding of a token hides.
const secret = 'session-52806197-9f3a71c4e2b85d06-71ab02e9c8f4d635-0c4e9b17a8d2f563';
const guess = 'qwertzu_31749582_2ce60d81b7f94a53_d803b6f5127ea94c_e7b1d04a936c8f25';

/**
 * Length of a token of an engine whose structure holds keys of two steps: one from the client, one
 * made by the server.
 */
async function lengthOf(engine: number, key: string): Promise<number> {
  const keys = generateKey();
  const asking = saga({ name: 'asking', version: '1' }, function* () {
    yield* elicit('one', { message: 'One?', schema: z.object({}) });
    return 'done';
  });
  const host = createSagaHost({ sagas: [asking], keys, audience: 'asking' });
  const sealer = createSealer({ ring: createKeyRing(keys), audience: 'asking' });
  const { token } = suspended(await host.start('asking', {}));
  const { claims, state, ...saved } = toSealedSaga(await sealer.open(token, { purpose: 'token' }));
  const structure = [...Array.from({ length: 20 }, () => key), secret]
    .map((each) => `"vcharge(${each})",7`)
    .join(',');
  const made = await sealSagaAs('token', sealer, {
    ...saved,
    claims: { ...claims, engine },
    state: { ...state, program: { ...state.program, structure } },
  });
  return made.length;
}

test('[T15] does not compress keys in a small structure of engine 1 beside each other', async () => {
  expect(guess).toHaveLength(secret.length);
  expect(await lengthOf(1, secret)).toBe(await lengthOf(1, guess));
  // Later engines keep keys out of the structure, which is then compressed.
  expect(await lengthOf(2, secret)).toBeLessThan(await lengthOf(1, secret));
});
