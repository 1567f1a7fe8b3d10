import { elicit, memoryStore, saga, step, type Program, type SagaStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { z } from 'zod';
import type { Contender, World } from './contender.ts';
import { input } from './contender.ts';

/** The tool as a saga. */
export function refundSaga({ bank, warehouse }: Pick<World, 'bank' | 'warehouse'>): Program {
  // #region saga
  const refund = saga({ name: 'refund', version: '1', input }, function* ({ order, euros }) {
    yield* step('hold', () => warehouse.hold(order), {
      compensate: () => warehouse.release(order),
    });
    yield* elicit('sure', { message: `Refund ${euros} EUR for ${order}?`, schema: z.object({}) });
    const { id } = yield* step('pay', ({ idempotencyKey }) =>
      bank.refund(order, euros, idempotencyKey),
    );
    return `Refunded: ${id}`;
  });
  // #endregion saga
  return refund;
}

const silent = (): void => undefined;

/** A saga with a store. */
export const mcpSaga: Contender = {
  name: 'mcp-saga',
  packages: [],
  open: async (world) => {
    const { kept } = world;
    const clock = (): number => kept.get('time') as number;
    const store = (kept.get('store') as SagaStore | undefined) ?? memoryStore({ clock });
    kept.set('store', store);
    const server = serveSagas({
      name: 'shop',
      version: '1',
      sagas: [refundSaga(world)],
      keys: kept.get('SAGA_KEYS') as string,
      store,
      auth: {
        authenticate: (request) => {
          const user = request.headers.get('authorization') ?? '';
          return { subject: user, client: 'shop' };
        },
      },
      testing: { clock },
      hooks: { onTurn: silent, onReject: silent, onError: silent, onWarning: silent },
    });
    return { fetch: (request) => server.fetch(request) };
  },
};
