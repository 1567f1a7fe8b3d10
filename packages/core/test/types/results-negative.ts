/* oxlint-disable typescript/no-unnecessary-type-parameters -- stands for a value of any type */
/**
 * Invalid results of steps, and undos that would never run. Compiled by types.test.ts with both
 * compilers.
 */
import { poll, step } from '../../src/index.ts';

class Order {
  readonly id = 1;
  total(): number {
    return 1;
  }
}

declare function of<T>(): T;
const rare = { every: 1, timeout: 2 };

export const refused = [
  // @ts-expect-error -- an instance of a class
  step('x', () => new Order()),
  // @ts-expect-error -- awaited, or not there
  step('x', async () => of<Order | undefined>()),
  // @ts-expect-error -- a list of instances
  step('x', async () => [new Order()]),
  // @ts-expect-error -- instances inside
  step('x', () => ({ id: 1, orders: [new Order()] })),
  // @ts-expect-error -- a function
  step('x', () => () => 1),
  // @ts-expect-error -- a class
  step('x', () => Order),
  // @ts-expect-error -- a function inside
  step('x', () => ({ when: 1, job: { run: () => 1 } })),
  // @ts-expect-error -- a symbol
  step('x', () => Symbol('x')),
  // @ts-expect-error -- a symbol inside
  step('x', () => ({ id: Symbol('x') })),
  // @ts-expect-error -- a response
  step('x', ({ signal }) => fetch('https://example.com', { signal })),
  // @ts-expect-error -- a stream
  step('x', async () => of<Response>().body),
  // @ts-expect-error -- a promise inside
  step('x', () => ({ text: of<Response>().text() })),
  // @ts-expect-error -- an iterator
  step('x', () => new Map([[1, 2]]).values()),
  // @ts-expect-error -- a pattern
  step('x', () => /x/),
  // @ts-expect-error -- floats
  step('x', () => new Float64Array(1)),
  // @ts-expect-error -- a generator
  step('x', function* () {
    yield* step('y', () => 1);
  }),
  // @ts-expect-error -- an async generator
  step('x', async function* () {
    yield 1;
  }),
  // @ts-expect-error -- the answer of a poll
  poll('x', () => of<Order | undefined>(), rare),
  // @ts-expect-error -- an async generator as an undo
  step('x', () => 1, { compensate: async function* () {} }),
  step('x', () => 1, {
    // @ts-expect-error -- an async generator that reads the result
    async *compensate({ result }) {
      yield result;
    },
  }),
];

// A type error inside of a step is reported once.
step(
  'x',
  () =>
    // @ts-expect-error -- no such property
    new Order().customer,
);
step('x', async () => {
  // @ts-expect-error -- no such property
  const { id } = new Order().customer;
  return { id, ids: [id] };
});
step('x', () => 1, {
  compensate: ({ result }) =>
    // @ts-expect-error -- a number
    result.length,
});
