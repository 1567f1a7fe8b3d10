import {
  createSagaHost,
  elicit,
  generateKey,
  memoryGuard,
  saga,
  step,
  type SagaGuard,
  type SagaHost,
} from '@mcp-saga/server';
import { z } from 'zod';
import { compare } from '../compare.ts';
import type { Candidate, Effort } from '../harness.ts';
import type { Row } from '../row.ts';

/** A turn under `memoryGuard` beside the same turn without a guard, and the memory that the guard holds. */
export const guarded: Row = async ({ effort }) => [
  await compare('guarded-turn', [turns('under memoryGuard', true), turns('without a guard', false)], effort),
  { figure: 'guard-live', ours: await heldBy(effort, false), peers: [] },
  { figure: 'guard-finished', ours: await heldBy(effort, true), peers: [] },
];

const Name = z.object({ name: z.string() });
const answer = { stepId: 'name', result: { action: 'accept', content: { name: 'Ada' } } } as const;

/** Starts and finishes sagas of two turns. */
function turns(name: string, isGuarded: boolean): Candidate {
  const host = hostWith(isGuarded ? memoryGuard() : undefined);
  return {
    name,
    run: async (times) => {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (let count = 0; count < times; count += 1) await finish(host, await begin(host));
    },
  };
}

/** Bytes of heap that a guard holds for each saga; `finished`: for each turn of sagas that have ended. */
async function heldBy({ rounds }: Effort, finished: boolean): Promise<number> {
  const host = hostWith(memoryGuard());
  const sagas = rounds * 100;
  const before = heap();
  const tokens: string[] = [];
  for (let count = 0; count < sagas; count += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const token = await begin(host);
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (finished) await finish(host, token);
    else tokens.push(token);
  }
  const held = heap() - before - tokens.reduce((bytes, token) => bytes + token.length, 0);
  return Math.max(0, held / (finished ? 2 * sagas : sagas));
}

function heap(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function begin(host: SagaHost): Promise<string> {
  const turn = await host.start('bench', {});
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`);
  return turn.token;
}

async function finish(host: SagaHost, token: string): Promise<void> {
  const { status } = await host.resume(token, [answer]);
  if (status !== 'completed') throw new Error(`The saga ${status}`);
}

function hostWith(store: SagaGuard | undefined): SagaHost {
  const forks = store === undefined ? 'accept' : 'refuse';
  const greets = saga({ name: 'bench', version: '1', forks }, function* () {
    const { name } = yield* elicit('name', { message: 'Who?', schema: Name });
    return yield* step('greet', () => `Hello ${name}`);
  });
  return createSagaHost({
    sagas: [greets],
    keys: generateKey(),
    audience: 'bench',
    testing: { environment: 'production' },
    hooks: { onWarning: () => {}, onTurn: () => {} },
    ...(store === undefined ? {} : { guard: { store } }),
  });
}
