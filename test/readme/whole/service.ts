import { approval, saga, step, type SagaQueue, type SagaStore } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { z } from 'zod';

/** What the service works with. */
export interface Services {
  readonly bank: {
    refund(order: string, cents: number, key: string): Promise<{ id: string }>;
    revoke(id: string): Promise<void>;
    revokeByKey(key: string): Promise<void>;
  };
  readonly ledger: {
    book(order: string, id: string, key: string): Promise<void>;
    strike(key: string): Promise<void>;
  };
  readonly mail: { send(link: string, key: string): Promise<void> };
}

interface Employee {
  readonly subject: string;
  readonly roles: readonly string[];
}

// #region service
declare module '@mcp-saga/server' {
  interface Register {
    services: Services;
    user: Employee;
    by: { readonly role: string };
  }
}

export const refund = saga(
  { name: 'refund', version: '1', input: z.object({ order: z.string(), cents: z.int() }) },
  function* ({ order, cents }) {
    const { approved } = yield* approval('manager', {
      message: `Refund ${cents / 100} EUR for ${order}?`,
      by: { role: 'manager' },
      deliver: ({ url, services, idempotencyKey }) => services.mail.send(url, idempotencyKey),
      timeout: '2d',
    });
    if (!approved) return 'Not refunded.';

    const { id } = yield* step(
      'refund',
      ({ services, idempotencyKey }) => services.bank.refund(order, cents, idempotencyKey),
      {
        unknown: 'compensate',
        compensate: ({ services, stepKey, outcome, result }) =>
          outcome === 'done' ? services.bank.revoke(result.id) : services.bank.revokeByKey(stepKey),
      },
    );
    yield* step(
      'book',
      ({ services, idempotencyKey }) => services.ledger.book(order, id, idempotencyKey),
      {
        unknown: 'compensate',
        compensate: ({ services, stepKey }) => services.ledger.strike(stepKey),
      },
    );
    return `Refunded ${order}.`;
  },
);

interface Parts {
  readonly store: SagaStore;
  readonly queue: SagaQueue;
  readonly services: Services;
  readonly authenticate: (request: Request) => Promise<Employee | undefined>;
}

export const serverOf = ({ store, queue, services, authenticate }: Parts): SagaServer =>
  serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [refund],
    store,
    queue,
    services,
    url: 'https://shop.example',
    auth: {
      authenticate,
      mayAnswer: (user, by) => by === null || user.roles.includes(by.role),
    },
  });
// #endregion service

// @ts-expect-error -- the registered people have a role
approval('manager', { message: '', by: { rank: 1 }, deliver: () => {}, timeout: '1d' });
