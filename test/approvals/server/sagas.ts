import {
  approval,
  info,
  saga,
  step,
  type Program,
  type StepContext,
  type Steps,
} from '@mcp-saga/server';
import type { Delivery } from '@mcp-saga/server/stores';
import {
  approval as approvalInMachine,
  machineSaga,
  step as stepInMachine,
} from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { z } from 'zod';
import type { NewEntry } from '../ledger.ts';

const minute = 60_000;
const urgent = {
  remindEvery: 400,
  escalate: [{ after: 3_000, by: { role: 'director' }, to: ['dora'] }],
};

export const roles: Readonly<Record<string, string>> = {
  // The caller is a manager, too.
  carl: 'manager',
  ann: 'manager',
  bob: 'manager',
  eve: 'manager',
  dora: 'director',
};

const Order = z.object({
  order: z.string(),
  managers: z.array(z.string()),
  approvals: z.number(),
  isUrgent: z.boolean().optional(),
});
const Comment = z.object({
  comment: z
    .string()
    .max(500)
    .optional()
    .meta({ title: 'Comment', description: 'Shown to the customer' }),
});

/**
 * Holds the money of an order, asks managers, and refunds the money. A denial releases the money.
 */
export function refundSaga(record: (entry: NewEntry) => Promise<void>): Program {
  return saga(
    { name: 'refund', version: '1', input: Order },
    function* ({ order, managers, approvals, isUrgent = false }): Steps<string> {
      const { sagaId } = yield* info();
      yield* step(
        'hold',
        ({ idempotencyKey: key }) => record({ kind: 'hold', order, key, sagaId }),
        {
          compensate: ({ idempotencyKey: key }) => record({ kind: 'release', order, key }),
        },
      );
      const decision = yield* approval('manager', {
        message: `Refund 40 EUR for order ${order}?`,
        schema: Comment,
        by: { role: 'manager' },
        to: managers,
        of: approvals,
        deliver: (delivery: Delivery<string>) => record(toEntry(order, delivery)),
        timeout: 10 * minute,
        ...(isUrgent ? urgent : {}),
      });
      if (!decision.approved) throw new Error(`Not refunded: ${decision.reason}.`);
      yield* step('refund', ({ idempotencyKey: key }) => record({ kind: 'refund', order, key }));
      return decision.answers
        .map((answer) => (answer.by === 'link' ? 'link' : answer.by.subject))
        .toSorted()
        .join(' and ');
    },
  );
}

/**
 * Name of the machine, for the ID of its saga in the ledger: steps of machines do not know the ID.
 */
export const machineName = 'refund-by-machine';

/** The same as a machine that is always urgent. */
export function refundMachine(record: (entry: NewEntry) => Promise<void>): Program {
  type Input = z.infer<typeof Order>;
  const machine = setup({
    types: { input: {} as Input, context: {} as Input, output: {} as string },
    actors: {
      hold: stepInMachine(
        ({ input: { order }, idempotencyKey: key }: StepContext<Input>) =>
          record({ kind: 'hold', order, key, sagaId: machineName }),
        {
          compensate: ({ input: { order }, idempotencyKey: key }) =>
            record({ kind: 'release', order, key }),
        },
      ),
      manager: approvalInMachine({
        message: ({ input }: { readonly input: Input }) =>
          `Refund 40 EUR for order ${input.order}?`,
        schema: Comment,
        by: { role: 'manager' },
        to: ({ input }) => input.managers,
        of: ({ input }) => input.approvals,
        deliver: ({ input, ...delivery }: Delivery<string> & { readonly input: Input }) =>
          record(toEntry(input.order, delivery)),
        timeout: 10 * minute,
        ...urgent,
      }),
      refund: stepInMachine(({ input: { order }, idempotencyKey: key }: StepContext<Input>) =>
        record({ kind: 'refund', order, key }),
      ),
    },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'holding',
    states: {
      holding: {
        invoke: { id: 'hold', src: 'hold', input: ({ context }) => context, onDone: 'asking' },
      },
      asking: {
        invoke: {
          id: 'manager',
          src: 'manager',
          input: ({ context }) => context,
          onDone: [
            { guard: ({ event }) => event.output.approved, target: 'refunding' },
            { target: 'refused' },
          ],
        },
      },
      refunding: {
        invoke: {
          id: 'refund',
          src: 'refund',
          input: ({ context }) => context,
          onDone: 'refunded',
        },
      },
      refunded: { type: 'final' },
      refused: { type: 'final', tags: 'compensate' },
    },
    output: '',
  });
  return machineSaga({ name: machineName, version: '1', input: Order }, machine);
}

function toEntry(
  order: string,
  { url, to = '', isReminder, idempotencyKey: key }: Omit<Delivery<string>, 'by'>,
): NewEntry {
  return { kind: isReminder ? 'reminder' : 'link', order, key, to, url };
}
