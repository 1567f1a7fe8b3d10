import {
  createKeyRing,
  createSealer,
  TokenRefused,
  type Claims,
  type Sealed,
} from '@mcp-saga/seal';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sealSagaAs, toSealedSaga } from '../../src/token/sealed-saga.ts';
import { start } from '../fixtures/clock.ts';
import { oldKey } from '../fixtures/host.ts';

const sealer = createSealer({
  ring: createKeyRing(oldKey),
  audience: 'deployer',
  clock: () => start,
});
const claims: Claims = {
  method: 'tools/call',
  entry: { target: 'deploy', argsDigest: '' },
  saga: { name: 'deploy', version: '1' },
  principal: null,
  engine: 1,
  turn: 1,
  jti: 'jti',
  born: start,
  iat: start,
  exp: start + 60_000,
};
const text = fc.string({ unit: 'grapheme' });
const count = fc.nat();

test('[T8] [R4] a sealed saga state opens to the same state, with any members', async () => {
  const states = fc.record(
    {
      program: fc.record({
        head: fc.dictionary(text, text).map((asked) => JSON.stringify({ turn: 1, asked })),
        structure: text,
        client: text,
        server: text,
      }),
      secret: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      generation: count,
      ownTurns: count,
      keptBytes: count,
      trace: text,
      requestId: text,
      hasPages: fc.constant(true as const),
      undoes: fc.constant(true as const),
    },
    { requiredKeys: ['program', 'secret', 'generation'], noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(states, async (state) => {
      const saga = { sagaId: sealer.newSagaId(), claims, state, tokenBytes: 0 };
      const token = await sealSagaAs('token', sealer, saga);
      const opened = await sealer.open(token, { purpose: 'token' });
      expect(toSealedSaga(opened, 9)).toEqual({ ...saga, tokenBytes: 9 });
    }),
  );
});

test('[T11] refuses any other bytes in the stream of the host', () => {
  const empty = new Uint8Array(0);
  const starts = fc.constantFrom(
    [],
    [1],
    [1, ...new Uint8Array(32)],
    [1, ...new Uint8Array(32), 10],
    [0x7b],
  );
  fc.assert(
    fc.property(starts, fc.uint8Array({ maxLength: 80 }), (first, rest) => {
      const own = Uint8Array.from([...first, ...rest]);
      const sealed: Sealed = {
        claims,
        purpose: 'token',
        audience: 'deployer',
        kid: 'old',
        sid: 'A'.repeat(22),
        streams: [own, empty, empty, empty],
        stored: [],
      };
      expect(() => toSealedSaga(sealed, 9)).toThrow(TokenRefused);
    }),
    { numRuns: 1_000 },
  );
});
