import type { Delivery } from '@mcp-saga/core';
import { approval, machineSaga, step, waitFor, type ApprovalLogicOptions } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';

export const hour = 3_600_000;
export const day = 24 * hour;
export const Comment = z.object({ comment: z.string().min(3).optional() });
export const Paid = z.object({ status: z.literal('paid'), amount: z.number() });

/** Link that was delivered. */
export interface Sent {
  readonly url: string;
  readonly to: unknown;
  readonly by: unknown;
  readonly isReminder: boolean;
  readonly key: string;
}

/** Everything that machines did outside. */
export class Outbox {
  readonly sent: Sent[] = [];
  readonly did: string[] = [];

  readonly deliver = ({ url, to, by, isReminder, idempotencyKey: key }: Delivery<string>): void =>
    void this.sent.push({ url, to, by, isReminder, key });

  url(index = 0): string {
    return this.sent[index]?.url ?? '';
  }

  /** Number of the link of a recipient. */
  indexOf(to: string): number {
    return this.sent.findIndex((one) => one.to === to);
  }
}

type Options = Partial<ApprovalLogicOptions<typeof Comment, number, string>>;
const end = { type: 'final' } as const;

/**
 * Saga that reserves, asks a manager, and pays or is undone. `giveUpMs`: the machine leaves the
 * question after this time.
 */
export function refundSaga(
  outbox: Outbox,
  options: Options & { readonly giveUpMs?: number } = {},
  settings: object = {},
): ReturnType<typeof machineSaga> {
  const { giveUpMs = 30 * day, ...changes } = options;
  const machine = setup({
    types: { context: {} as { cents: number; said: string }, output: {} as string },
    actors: {
      hold: step(() => void outbox.did.push('hold'), {
        compensate: () => void outbox.did.push('release'),
      }),
      manager: approval({
        message: ({ input }: { input: number }) => `Refund ${input} cents?`,
        schema: Comment,
        timeout: day,
        deliver: outbox.deliver,
        ...changes,
      }),
      pay: step(({ input }: { input: number }) => void outbox.did.push(`pay ${input}`)),
    },
    delays: { giveUp: giveUpMs },
  }).createMachine({
    context: { cents: 10, said: '' },
    initial: 'holding',
    states: {
      holding: { invoke: { id: 'hold', src: 'hold', onDone: 'asking' } },
      asking: {
        invoke: {
          id: 'manager',
          src: 'manager',
          input: ({ context }) => context.cents,
          onDone: [
            {
              guard: ({ event }) => event.output.approved,
              target: 'paying',
              actions: assign({ said: ({ event }) => JSON.stringify(event.output) }),
            },
            {
              target: 'refused',
              actions: assign({
                said: ({ event }) => (event.output.approved ? '' : event.output.reason),
              }),
            },
          ],
          onError: {
            target: 'refused',
            actions: assign({ said: ({ event }) => (event.error as Error).name }),
          },
        },
        after: { giveUp: 'over' },
      },
      paying: {
        invoke: { id: 'pay', src: 'pay', input: ({ context }) => context.cents, onDone: 'over' },
      },
      over: end,
      refused: { type: 'final', tags: 'compensate' },
    },
    output: ({ context }) => context.said,
  });
  return machineSaga({ name: 'refund', version: '1', reuse: 'ok', ...settings }, machine);
}

/** Saga with two approvals and an event in parallel regions. */
export function releaseSaga(outbox: Outbox, settings: object = {}): ReturnType<typeof machineSaga> {
  const ask = (message: string): ReturnType<typeof approval> =>
    approval({ message, to: [message], timeout: day, deliver: outbox.deliver });
  const machine = setup({
    types: { context: {} as { by: readonly string[]; amount: number }, output: {} as string },
    actors: {
      legal: ask('Legal?'),
      press: ask('Press?'),
      payment: waitFor({
        schema: Paid,
        register: ({ url, idempotencyKey: key }) =>
          void outbox.sent.push({ url, to: 'bank', by: undefined, isReminder: false, key }),
        link: 'accept',
        timeout: day,
      }),
    },
  }).createMachine({
    context: { by: [], amount: 0 },
    initial: 'asking',
    states: {
      asking: {
        type: 'parallel',
        states: {
          legal: {
            initial: 'open',
            states: {
              open: {
                invoke: {
                  id: 'legal',
                  src: 'legal',
                  onDone: {
                    target: 'end',
                    actions: assign({ by: ({ context }) => [...context.by, 'legal'] }),
                  },
                },
              },
              end,
            },
          },
          press: {
            initial: 'open',
            states: {
              open: {
                invoke: {
                  id: 'press',
                  src: 'press',
                  onDone: {
                    target: 'end',
                    actions: assign({ by: ({ context }) => [...context.by, 'press'] }),
                  },
                },
              },
              end,
            },
          },
          payment: {
            initial: 'open',
            states: {
              open: {
                invoke: {
                  id: 'payment',
                  src: 'payment',
                  onDone: {
                    target: 'end',
                    actions: assign({ amount: ({ event }) => event.output.amount }),
                  },
                },
              },
              end,
            },
          },
        },
        onDone: 'released',
      },
      released: end,
    },
    output: ({ context }) => `${context.by.join()} ${context.amount}`,
  });
  return machineSaga({ name: 'release', version: '1', ...settings }, machine);
}

/** Saga that asks again after a denial, until an approval. */
export function askingAgain(outbox: Outbox, settings: object = {}): ReturnType<typeof machineSaga> {
  const machine = setup({
    types: { context: {} as { asked: number }, output: {} as string },
    actors: { go: approval({ message: 'Go?', timeout: day, deliver: outbox.deliver }) },
  }).createMachine({
    context: { asked: 0 },
    initial: 'asking',
    states: {
      asking: {
        entry: assign({ asked: ({ context }) => context.asked + 1 }),
        invoke: {
          id: 'go',
          src: 'go',
          onDone: [
            { guard: ({ event }) => event.output.approved, target: 'over' },
            { target: 'asking', reenter: true },
          ],
        },
      },
      over: end,
    },
    output: ({ context }) => `asked ${context.asked}`,
  });
  return machineSaga({ name: 'again', version: '1', ...settings }, machine);
}
