import { elicit, isDeclined, machineSaga, step } from '@mcp-saga/xstate';
import type { Program } from '@mcp-saga/server';
import { assign, fromPromise, setup } from 'xstate';
import * as z from 'zod';

/** Effects in order. */
export const done: string[] = [];

/** What a later deploy has otherwise. */
export interface ShippingChanges {
  readonly version?: string;
  readonly previous?: readonly Program[];
  readonly message?: string;
  /** The id of the invoke that asks. */
  readonly question?: string;
  readonly field?: z.ZodType;
  /** From how many cents on the user is asked. */
  readonly asksFrom?: number;
  /** Timeout in milliseconds. */
  readonly patience?: number;
  readonly ships?: boolean;
  readonly mails?: boolean;
  /** How many cents more are charged. */
  readonly fee?: number;
  readonly says?: string;
  readonly input?: z.ZodObject;
  readonly reuse?: 'ok' | undefined;
  /** Whether it ships once at the most. */
  readonly once?: boolean;
}

/** Charges, asks where it is much, ships and says so; charges back where the user is not sure. */
export function shippingOf(changes: ShippingChanges = {}): Program {
  const { once = false } = changes;
  const reuse = 'reuse' in changes ? changes.reuse : 'ok';
  const { version = '1', previous = [], question = 'sure', asksFrom = 500, fee = 0 } = changes;
  const {
    message = 'Ship it?',
    field = z.boolean(),
    patience = 600_000,
    says = 'On its way',
  } = changes;
  const {
    ships = true,
    mails = false,
    input = z.object({ cents: z.number(), card: z.string() }),
  } = changes;
  const machine = setup({
    types: {
      input: {} as { cents: number; card: string },
      context: {} as { cents: number; card: string; payment: string; quote: number },
      output: {} as string,
    },
    actors: {
      quote: fromPromise(async ({ input: { cents } }: { input: { cents: number } }) => {
        done.push('quote');
        return cents;
      }),
      charge: step(
        ({ input: { cents } }: { input: { cents: number; card: string } }) => {
          done.push('charge');
          return { id: `ch_${cents}` };
        },
        {
          retry: {
            attempts: 3,
            delay: 30_000,
            when: (error) => (error as { status?: number }).status !== 400,
          },
          timeout: 5_000,
          compensate: ({ outcome, result }) =>
            void done.push(outcome === 'done' ? `refund ${result.id}` : 'refund'),
          unknown: 'compensate',
        },
      ),
      ask: elicit({
        message: ({ input: { card } }: { input: { card: string } }) => `${message} (${card})`,
        schema: z.object({ sure: field as z.ZodBoolean }),
      }),
      ship: step(() => void done.push('ship'), { once }),
      mail: step(() => void done.push('mail')),
    },
    guards: {
      isDeclined,
      isMuch: ({ context }) => context.cents >= asksFrom,
      isUnsure: ({ event }) => (event as { output?: { sure: boolean } }).output?.sure === false,
      ships: () => ships,
      mails: () => mails,
    },
  }).createMachine({
    id: 'shipping',
    context: ({ input: { cents, card } }) => ({ cents, card, payment: '', quote: 0 }),
    initial: 'quoting',
    states: {
      quoting: {
        invoke: {
          id: 'quote',
          src: 'quote',
          input: ({ context: { cents } }) => ({ cents }),
          onDone: { target: 'charging', actions: assign({ quote: ({ event }) => event.output }) },
        },
      },
      charging: {
        invoke: {
          id: 'charge',
          src: 'charge',
          input: ({ context: { quote, card } }) => ({ cents: quote + fee, card }),
          onDone: {
            target: 'charged',
            actions: assign({ payment: ({ event }) => event.output.id }),
          },
        },
      },
      charged: { always: [{ guard: 'isMuch', target: 'asking' }, { target: 'paid' }] },
      asking: {
        invoke: {
          id: question,
          src: 'ask',
          input: ({ context: { card } }) => ({ card }),
          onDone: [{ guard: 'isUnsure', target: 'back' }, { target: 'paid' }],
          onError: { guard: 'isDeclined', target: 'back' },
        },
        after: { [patience]: 'back' },
      },
      paid: { always: [{ guard: 'ships', target: 'shipping' }, { target: 'told' }] },
      shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'told' } },
      told: { always: [{ guard: 'mails', target: 'mailing' }, { target: 'over' }] },
      mailing: { invoke: { id: 'mail', src: 'mail', onDone: 'over' } },
      over: { type: 'final' },
      back: { type: 'final', tags: 'compensate' },
    },
    output: ({ context }) => `${says}, paid by ${context.payment}`,
  });
  return machineSaga(
    {
      name: 'shipping',
      version,
      reuse,
      input: input as never,
      previous: previous.map((saga) => ({ saga })),
    },
    machine as never,
  );
}

export const shipping: Program = shippingOf();
