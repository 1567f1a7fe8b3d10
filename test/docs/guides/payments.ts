import {
  abort,
  elicit,
  pivot,
  saga,
  SagaError,
  sleep,
  step,
  StepError,
  toUuid,
  OutcomeUnknown,
} from '@mcp-saga/server';
import { Provider } from '@mcp-saga/testing';
import { z } from 'zod';

/** Charges and shipments by idempotency key. */
export const charges: Provider<number> = new Provider();
export const shipments: Provider<string> = new Provider();

const bank = {
  charge: async (amount: number, key: string): Promise<{ readonly id: string }> => {
    charges.do(key, amount);
    return { id: key };
  },
  refund: async (charge: string, _idempotencyKey: string): Promise<void> => charges.undo(charge),
};
const shop = {
  ship: async (item: string, key: string): Promise<void> => void shipments.do(key, item),
  recall: async (key: string): Promise<void> => shipments.undo(key),
};

// #region tool
const Sure = z.object({ sure: z.boolean() });
const Order = z.object({ item: z.string(), amount: z.number() });

export const buy = saga({ name: 'buy', version: '1', input: Order }, function* ({ item, amount }) {
  yield* step('charge', ({ idempotencyKey }) => bank.charge(amount, idempotencyKey), {
    label: `charge of ${amount} EUR`,
    timeout: '10s',
    retry: 3,
    compensate: ({ stepKey, idempotencyKey }) => bank.refund(stepKey, idempotencyKey),
    unknown: 'compensate',
  });
  const { sure } = yield* elicit('sure', {
    message: `Ship ${item} for ${amount} EUR?`,
    schema: Sure,
  });
  if (!sure) yield* abort('The user cancelled the order.');
  yield* step('ship', ({ idempotencyKey }) => shop.ship(item, idempotencyKey), {
    retry: 3,
    compensate: ({ stepKey }) => shop.recall(stepKey),
    unknown: 'compensate',
  });
  yield* pivot('shipped');
  return `Shipped ${item}.`;
});
// #endregion tool

/** Payments by a UUID. */
export const payments: Provider<number> = new Provider();

const psp = {
  pay: async (amount: number, uuid: string): Promise<void> => void payments.do(uuid, amount),
  cancel: async (uuid: string): Promise<void> => payments.undo(uuid),
};

// #region uuid
export const payBill = saga(
  { name: 'pay_bill', version: '1', input: z.object({ amount: z.number() }) },
  function* ({ amount }) {
    yield* step('pay', ({ idempotencyKey }) => psp.pay(amount, toUuid(idempotencyKey)), {
      compensate: ({ stepKey }) => psp.cancel(toUuid(stepKey)),
      unknown: 'compensate',
    });
    yield* elicit('sure', { message: `Keep the payment of ${amount} EUR?`, schema: Sure });
    return `Paid ${amount} EUR.`;
  },
);
// #endregion uuid

class BankBusy extends SagaError {
  constructor() {
    super('The bank is busy.', { code: 'bank_busy' });
  }
}

/** A bank that gives each key one answer, and repeats it. It refuses the first key that it sees. */
class BusyBank extends Provider<number> {
  #refused: string | undefined;

  transfer(cents: number, key: string): void {
    this.#refused ??= key;
    if (key === this.#refused) throw new BankBusy();
    this.do(key, cents);
  }

  override reset(): void {
    super.reset();
    this.#refused = undefined;
  }
}

export const transfers = new BusyBank();

// #region fresh
const Cents = z.object({ cents: z.number() });

export const transferMoney = saga(
  { name: 'transfer_money', version: '1', input: Cents },
  function* ({ cents }) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        yield* step('transfer', ({ idempotencyKey }) => transfers.transfer(cents, idempotencyKey), {
          key: `${attempt}`,
          compensate: ({ stepKey }) => transfers.undo(stepKey),
          unknown: 'compensate',
        });
        return `Sent after ${attempt} attempts.`;
      } catch (error) {
        const isRefused = error instanceof StepError && error.code === 'bank_busy';
        if (!isRefused || attempt === 3) throw error;
        yield* sleep('30s');
      }
    }
  },
);
// #endregion fresh

/** The body of a response that may be lost. */
type Reply = { readonly id: string } | undefined;

// #region unknown
export async function chargeOnce(send: () => Promise<Reply>): Promise<{ readonly id: string }> {
  const reply = await send();
  if (reply === undefined) throw new OutcomeUnknown('The bank did not answer.');
  return reply;
}
// #endregion unknown
