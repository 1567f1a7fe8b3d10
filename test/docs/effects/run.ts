import {
  all,
  allSettled,
  call,
  each,
  elicit,
  ignore,
  race,
  saga,
  scope,
  sleep,
  step,
  type Steps,
} from '@mcp-saga/server';
import { z } from 'zod';

const weather = async (city: string): Promise<string> => `sunny in ${city}`;

/** Invoices by idempotency key. */
export const invoices: Map<string, { readonly id: string }> = new Map();
const billing = {
  create: async (customer: string, key: string): Promise<{ readonly id: string }> => {
    const invoice = invoices.get(key) ?? { id: `${customer}-${invoices.size + 1}` };
    invoices.set(key, invoice);
    return invoice;
  },
};

// #region step
export const invoice = saga(
  { name: 'invoice', version: '1', input: z.object({ customer: z.string() }) },
  function* ({ customer }) {
    const { id } = yield* step(
      'create',
      ({ input, idempotencyKey }) => billing.create(input, idempotencyKey),
      { input: customer, retry: 3, timeout: '10s' },
    );
    return `Created invoice ${id}.`;
  },
);
// #endregion step

// #region all
const Day = z.object({ date: z.iso.date() });

export const book = saga({ name: 'book', version: '1' }, function* () {
  const { arrival, departure, forecast } = yield* all({
    arrival: elicit('arrival', { message: 'When do you arrive?', schema: Day }),
    departure: elicit('departure', { message: 'When do you leave?', schema: Day }),
    forecast: step('forecast', () => weather('Rome'), { reads: true }),
  });
  return `${arrival.date} to ${departure.date}, ${forecast}.`;
});
// #endregion all

// #region allSettled
export const report = saga({ name: 'report', version: '1' }, function* () {
  const cities = yield* allSettled([
    step('city', () => weather('Rome'), { key: 'rome', reads: true }),
    step('city', () => weather('Oslo'), { key: 'oslo', reads: true }),
  ]);
  return cities.map((city) => (city.status === 'fulfilled' ? city.value : 'unknown')).join(', ');
});
// #endregion allSettled

// #region race
const Approval = z.object({ approved: z.boolean() });

export const approve = saga({ name: 'approve', version: '1' }, function* () {
  const first = yield* race({
    answer: elicit('approval', { message: 'Approve the release?', schema: Approval }),
    timeout: sleep('10m'),
  });
  if (first.winner === 'timeout') return 'No answer in ten minutes.';
  return first.value.approved ? 'Approved.' : 'Rejected.';
});
// #endregion race

/** Orders that were shipped. */
export const shipped: string[] = [];
const carrier = {
  ship: async (id: string, _key: string): Promise<string> => {
    shipped.push(id);
    return `label of ${id}`;
  },
};

// #region each
const Orders = z.object({ orders: z.array(z.object({ id: z.string() })) });

export const shipOrders = saga(
  { name: 'ship_orders', version: '1', input: Orders },
  function* ({ orders }) {
    const labels = yield* each(
      orders,
      ({ id }) => step('ship', ({ idempotencyKey }) => carrier.ship(id, idempotencyKey)),
      { key: ({ id }) => id, limit: 5 },
    );
    return labels.join(', ');
  },
);
// #endregion each

// #region scope
const Name = z.object({ name: z.string() });

function* person(role: string): Steps<string> {
  const { name } = yield* elicit('name', { message: `Name of the ${role}?`, schema: Name });
  return name;
}

export const introduce = saga({ name: 'introduce', version: '1' }, function* () {
  const host = yield* scope('host', person('host')); // asks `host/name`
  const guest = yield* scope('guest', person('guest')); // asks `guest/name`
  return `${host}, this is ${guest}.`;
});
// #endregion scope

// #region call
const greet = saga({ name: 'greet', version: '1', input: Name }, function* ({ name }) {
  const text = yield* step('translate', () => `Buongiorno ${name}`);
  return text;
});

export const welcome = saga({ name: 'welcome', version: '1', input: Name }, function* ({ name }) {
  return yield* call(greet, { name }); // runs the step `greet/translate`
});
// #endregion call

// #region ignore
const Notice = z.object({ urgent: z.boolean() });

export const notify = saga({ name: 'notify', version: '1', input: Notice }, function* (input) {
  const mail = step('mail', () => 'mailed');
  const phone = step('phone', () => 'called');
  const [used, unused] = input.urgent ? [phone, mail] : [mail, phone];
  ignore(unused);
  return yield* used;
});
// #endregion ignore
