import { approval, elicit, elicitUrl, listRoots, sample, step, waitFor } from '@mcp-saga/xstate';
import { isCancelled, isDeclined, isInvalid, isRefused, stepError } from '@mcp-saga/xstate';
import * as xstate from 'xstate';
import * as zod from 'zod';
import type { Exports } from '../../engine/load-files.ts';
import type { WaitingActors } from './waiting-actors.ts';

const helpers = { isCancelled, isDeclined, isInvalid, isRefused, stepError };
const logics = { approval, elicit, elicitUrl, listRoots, sample, step, waitFor };

/** Returns modules whose promises, observables, and steps wait for the person at the page. `made` gets each machine of the code. */
export function machineModules(actors: WaitingActors, made: unknown[]): Readonly<Record<string, Exports>> {
  const record = <T>(machine: T): T => {
    made.push(machine);
    return machine;
  };
  const promise = (): unknown =>
    xstate.fromPromise(({ self }) => new Promise((resolve, reject) => actors.add({ self, resolve, reject })));
  const observable = (): unknown =>
    xstate.fromObservable(({ self }) => {
      const subscribe = (observer: xstate.Observer<unknown>): object => {
        const resolve = (value: unknown): void => {
          observer.next?.(value);
          observer.complete?.();
        };
        actors.add({ self, resolve, reject: (error) => observer.error?.(error) });
        return { unsubscribe: () => undefined };
      };
      return { subscribe } as never;
    });
  return {
    xstate: {
      ...xstate,
      createMachine: (...args: Parameters<typeof xstate.createMachine>) =>
        record(xstate.createMachine(...args)),
      setup: (config: never) => {
        const ready = xstate.setup(config);
        return { ...ready, createMachine: (machine: never) => record(ready.createMachine(machine)) };
      },
      fromPromise: promise,
      fromObservable: observable,
      fromEventObservable: () => xstate.fromCallback(() => undefined),
      fromCallback: () => xstate.fromCallback(() => undefined),
    },
    '@mcp-saga/xstate': {
      ...helpers,
      ...Object.fromEntries(Object.entries(logics).map(([name, make]) => [name, waitingLogic(make, actors)])),
      // The page runs the machine, and not its saga.
      machineSaga: () => ({}),
    },
    zod,
  };
}

/** Replaces the start of the logics that a function makes. */
function waitingLogic(make: unknown, waiting: WaitingActors): unknown {
  return (...args: readonly unknown[]) => ({
    ...(make as (...given: readonly unknown[]) => object)(...args),
    start: (_: unknown, { self }: { readonly self: xstate.AnyActorRef }) => {
      const end = (how: object): void => self.send({ type: 'mcp-saga.end', end: how });
      waiting.add({ self, resolve: (output) => end({ output }), reject: (error) => end({ error }) });
    },
  });
}
