import { TokenRefused, type Claims, type Sealer } from '@mcp-saga/seal';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeySource, SagaHostError } from '@mcp-saga/server';
import { toKeys, type Keys } from '../../src/settings/host-keys.ts';
import { defaultHostLimits } from '../../src/settings/default-limits.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { keyOf } from '../fixtures/host.ts';

type Command =
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'fail' | 'recover' | 'add' | 'promote' | 'drop' }
  | { readonly does: 'seal'; readonly at: number }
  | { readonly does: 'open'; readonly at: number; readonly token: number };

const processes = 2;
const process = fc.nat({ max: processes - 1 });
const commands = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constant('wait' as const),
        ms: fc.integer({ min: 1, max: 400_000 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constant('wait' as const),
        ms: fc.integer({ min: 1, max: 3_000 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constantFrom('fail', 'recover', 'add', 'promote', 'drop') }),
    },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('seal' as const), at: process }) },
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant('open' as const),
        at: process,
        token: fc.nat({ max: 30 }),
      }),
    },
  ),
  { minLength: 20, maxLength: 60, size: 'max' },
);

/** Drops the key of a token, and opens the token. A random schedule rarely does. */
const dropped: Command[] = [
  { does: 'seal', at: 0 },
  { does: 'add' },
  { does: 'promote' },
  { does: 'drop' },
  { does: 'wait', ms: 400_000 },
  { does: 'open', at: 0, token: 0 },
];

const claims: Claims = {
  method: 'host',
  entry: { target: 'any', argsDigest: '' },
  saga: { name: 'any', version: '1' },
  principal: null,
  engine: 1,
  turn: 1,
  jti: 'A'.repeat(22),
  born: start,
  iat: start,
  exp: start + 365 * 86_400_000,
};

interface Loaded {
  readonly at: number;
  /** Keys that the source returned; undefined: it failed. */
  readonly kids: readonly string[] | undefined;
}

/** Lets the refresh in the background end. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('[T7] a token of a cached key opens after any failures, rotations, and refreshes, and loads are rare', async () => {
  const seen = new Map<string, number>();
  const count = (what: string): unknown => seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(commands, async (schedule) => {
      const clock = testClock();
      let isDown = false;
      let made = 1;
      let ring = ['k1'];
      const loads: Loaded[][] = [];
      const errors: unknown[] = [];
      const sourceOf = (log: Loaded[]): KeySource => ({
        load: async () => {
          log.push({ at: clock.now, kids: isDown ? undefined : ring });
          if (isDown) throw new Error('down');
          return ring.map((kid) => keyOf(kid, Number(kid.slice(1))));
        },
      });
      const fleet = Array.from({ length: processes }, (): Keys => {
        const log: Loaded[] = [];
        loads.push(log);
        return toKeys(
          { keys: sourceOf(log) },
          {
            audience: 'any',
            limits: defaultHostLimits,
            clock,
            implementation: 'auto',
            ring: { environment: 'production' },
            onError: (error) => errors.push(error),
          },
        );
      });
      const sealerAt = async (at: number): Promise<Sealer> => {
        const source = fleet.at(at)?.source;
        if (source === undefined) throw new Error(`There is no process ${at}.`);
        return (await source.ofCaller({})).sealer;
      };
      const cached = (at: number): readonly string[] | undefined =>
        loads[at]?.findLast(({ kids }) => kids !== undefined)?.kids;
      const tokens: { readonly token: string; readonly kid: string }[] = [];

      const run = async (command: Command): Promise<void> => {
        switch (command.does) {
          case 'wait':
            clock.now += command.ms;
            return;
          case 'fail':
          case 'recover':
            isDown = command.does === 'fail';
            return;
          case 'add':
            ring = [...ring, `k${(made += 1)}`];
            return;
          case 'promote':
            ring = [...ring.slice(-1), ...ring.slice(0, -1)];
            return;
          case 'drop':
            if (ring.length > 1) ring = ring.slice(0, -1);
            return;
          case 'seal': {
            const known = cached(command.at);
            try {
              const sealer = await sealerAt(command.at);
              const token = await sealer.seal('token', sealer.newSagaId(), claims, []);
              const [header = ''] = token.split('.');
              const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as {
                readonly kid: string;
              };
              // Loaded keys are used at once, or those of a refresh that has ended meanwhile.
              expect([known?.[0], cached(command.at)?.[0]]).toContain(kid);
              tokens.push({ token, kid });
              count('sealed');
            } catch (error) {
              expect((error as SagaHostError).code).toBe('keys_down');
              expect(known).toBeUndefined();
              count('not sealed');
            }
            return;
          }
          case 'open': {
            const sealed = tokens[command.token % Math.max(1, tokens.length)];
            if (sealed === undefined) return;
            const known = cached(command.at);
            const result = await sealerAt(command.at)
              .then((sealer) => sealer.open(sealed.token, { purpose: 'token' }))
              .then(
                () => 'opened',
                (error: unknown) =>
                  error instanceof TokenRefused ? error.reason : (error as SagaHostError).code,
              );
            // A refresh that has ended meanwhile may have dropped the key.
            const isCached = [known, cached(command.at)].every((kids) =>
              kids?.includes(sealed.kid),
            );
            if (isCached) expect(result).toBe('opened');
            const last = loads[command.at]?.at(-1);
            if (result === 'opened' && !isCached) expect(last?.kids).toContain(sealed.kid);
            if (result === 'unknown_key') expect(last?.kids).not.toBeUndefined();
            if (result === 'unknown_key') expect(last?.kids).not.toContain(sealed.kid);
            if (result === 'keys_down') expect(last?.kids).toBeUndefined();
            expect(['opened', 'unknown_key', 'keys_down']).toContain(result);
            count(isCached ? `cached, ${isDown ? 'down' : 'up'}` : result);
          }
        }
      };

      for (const command of schedule) {
        await run(command);
        await settled();
      }
      // Each failure is reported once.
      expect(errors).toHaveLength(loads.flat().filter(({ kids }) => kids === undefined).length);
      for (const log of loads) {
        for (const [index, { at }] of log.entries()) {
          const before = log[index - 1];
          if (before !== undefined)
            expect(at - before.at).toBeGreaterThanOrEqual(
              before.kids === undefined ? 1_000 : 10_000,
            );
        }
      }
    }),
    { numRuns: 300, examples: [[dropped]] },
  );
  // All of it came about.
  expect([...seen.keys()].toSorted()).toEqual([
    'cached, down',
    'cached, up',
    'keys_down',
    'not sealed',
    'opened',
    'sealed',
    'unknown_key',
  ]);
});
