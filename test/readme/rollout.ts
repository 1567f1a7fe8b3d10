import type { Client } from '@modelcontextprotocol/client';
import {
  resumeSaga,
  SagaRequestFailed,
  type CallToolResult,
  type KeptSaga,
} from '@mcp-saga/client';
import {
  elicit,
  patched,
  saga,
  step,
  type PreviousProgram,
  type Program,
  type Saga,
  type Steps,
} from '@mcp-saga/server';
import { z } from 'zod';

const Address = z.object({ address: z.string() });
const Express = z.object({ express: z.boolean() });

/** Orders at the warehouse. */
export const parcels: string[] = [];
const ship = (address: string, how: string) =>
  step('ship', () => void parcels.push(`${how} to ${address}`));

function* oldOrder(): Steps<string> {
  const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
  yield* ship(address, 'standard');
  return 'On its way';
}

function* newOrder(): Steps<string> {
  const { address } = yield* elicit('address', {
    message: 'Where shall we ship it?',
    schema: Address,
  });
  const { express } = yield* elicit('express', { message: 'By express?', schema: Express });
  yield* ship(address, express ? 'express' : 'standard');
  return 'On its way';
}

// #region versions
type Previous = { readonly previous?: readonly PreviousProgram[] };
const order1 = (more: Previous = {}) => saga({ name: 'order', version: '1', ...more }, oldOrder);
const order2 = (more: Previous = {}) => saga({ name: 'order', version: '2', ...more }, newOrder);

export const before: readonly Program[] = [order1()];
export const phase1: readonly Program[] = [order1({ previous: [{ saga: order2() }] })];
export const phase2: readonly Program[] = [order2({ previous: [{ saga: order1() }] })];
export const phase3: readonly Program[] = [order2()];
// #endregion versions

// #region patched
export const parcel = ({ enabled }: { readonly enabled: boolean }): Saga<undefined, undefined> =>
  saga({ name: 'parcel', version: '1' }, function* () {
    const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
    // Phase 1: false. Phase 2: true. When every older saga has ended, remove the branch, under a
    // new version.
    if (yield* patched('weigh', { enabled }))
      yield* step('weigh', () => void parcels.push('weighed'));
    const { express } = yield* elicit('express', { message: 'By express?', schema: Express });
    yield* ship(address, express ? 'express' : 'standard');
    return 'On its way';
  });
// #endregion patched

// #region retry
/**
 * Resumes a kept saga until it ends. A saga that no process serves any more ends with `SagaGone`,
 * when its token expires.
 */
export async function resumeThroughDeploy(
  client: Client,
  kept: KeptSaga,
  wait: (ms: number) => Promise<void>,
): Promise<CallToolResult> {
  let suspended: KeptSaga = kept;
  for (let delay = 1_000; ; delay = Math.min(2 * delay, 60_000)) {
    try {
      return await resumeSaga(client, suspended);
    } catch (error) {
      if (!(error instanceof SagaRequestFailed && error.isRetryable && error.saga)) throw error;
      suspended = error.saga.toJSON(); // with the answers that the user has given
      await wait(delay);
    }
  }
}
// #endregion retry
