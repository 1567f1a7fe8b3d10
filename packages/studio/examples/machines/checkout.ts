import { assign, fromPromise, setup } from 'xstate';

const checkout = setup({
  types: {
    context: {} as { items: number },
    events: {} as
      | { type: 'ADD'; count?: number }
      | { type: 'CHECKOUT' }
      | { type: 'CANCEL' }
      | { type: 'PACKED' },
  },
  actors: {
    charge: fromPromise(async () => ({ receipt: 'R-1' })),
  },
  actions: {
    addItems: assign({
      items: ({ context, event }) =>
        context.items + (event.type === 'ADD' ? (event.count ?? 1) : 0),
    }),
  },
  guards: {
    hasItems: ({ context }) => context.items > 0,
  },
});

export const machine = checkout.createMachine({
  id: 'checkout',
  context: { items: 0 },
  initial: 'cart',
  states: {
    cart: {
      on: {
        ADD: { actions: 'addItems' },
        CHECKOUT: { target: 'paying', guard: 'hasItems' },
      },
      after: { 900_000: 'abandoned' },
    },
    paying: {
      invoke: { id: 'charge', src: 'charge', onDone: 'preparing', onError: 'cart' },
      on: { CANCEL: 'cart' },
    },
    preparing: {
      type: 'parallel',
      states: {
        parcel: {
          initial: 'packing',
          states: { packing: { on: { PACKED: 'packed' } }, packed: { type: 'final' } },
        },
        invoice: {
          initial: 'writing',
          states: { writing: { after: { 5_000: 'written' } }, written: { type: 'final' } },
        },
      },
      onDone: 'delivered',
    },
    delivered: { type: 'final' },
    abandoned: { type: 'final' },
  },
});
