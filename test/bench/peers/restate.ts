import type { Candidate } from '../harness.ts';
import type { Load } from './load.ts';

interface Charge {
  readonly id: string;
}
interface Generators {
  readonly gen: (body: () => Generator<unknown, unknown, unknown>) => unknown;
  readonly run: (
    action: () => Promise<Charge>,
    options: { readonly name: string },
  ) => { [Symbol.iterator](): Iterator<unknown, Charge, unknown> };
  readonly execute: (context: unknown, operation: unknown) => Promise<unknown>;
}
interface Sdk {
  readonly RestatePromise: { resolve(value: unknown): unknown };
}

/**
 * Runs only the scheduler of the generators. Its context returns each recorded result at once,
 * which leaves out the cost of the virtual machine and the protocol below it: they need Node 22 and
 * a server.
 */
export function loadRestate(load: Load): (entries: number) => Candidate {
  const { gen, run, execute } = load('@restatedev/restate-sdk-gen') as Generators;
  const { RestatePromise } = load('@restatedev/restate-sdk') as Sdk;
  return (entries) => {
    const context = {
      request: () => ({ attemptCompletedSignal: new AbortController().signal }),
      run: () => RestatePromise.resolve({ id: 'ch_1' }),
    };
    const operation = gen(function* () {
      let charged = 0;
      for (let index = 0; index < entries; index += 1) {
        charged += (yield* run(async () => ({ id: 'ch_1' }), { name: 'charge' })).id.length;
      }
      return charged;
    });
    return {
      name: 'restate-sdk-gen',
      run: async (times) => {
        for (let count = 0; count < times; count += 1) {
          const charged = await execute(context, operation);
          if (charged !== 4 * entries) throw new Error('The generator did not run to its end');
        }
      },
    };
  };
}
