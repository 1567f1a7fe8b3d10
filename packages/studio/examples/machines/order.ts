import { setup } from 'xstate';

const bank = setup({}).createMachine({
  id: 'bank',
  initial: 'busy',
  states: { busy: { after: { 3_000: 'done' } }, done: { type: 'final' } },
});

const payment = setup({ actors: { bank } }).createMachine({
  id: 'payment',
  initial: 'entering',
  states: {
    entering: { on: { ENTER: 'checking' } },
    checking: { invoke: { id: 'bank', src: 'bank', onDone: 'accepted' } },
    accepted: { type: 'final' },
  },
});

const parcel = setup({}).createMachine({
  id: 'parcel',
  initial: 'waiting',
  states: { waiting: { on: { PICK_UP: 'moving' } }, moving: { after: { 86_400_000: 'waiting' } } },
});

export const machine = setup({ actors: { payment, parcel } }).createMachine({
  id: 'order',
  context: ({ spawn }) => ({ parcel: spawn('parcel', { id: 'parcel-1' }) }),
  initial: 'open',
  states: {
    open: { on: { PAY: 'paying' } },
    paying: {
      invoke: { id: 'payment', src: 'payment', onDone: 'paid' },
      on: { CANCEL: 'open' },
    },
    paid: { type: 'final' },
  },
});
