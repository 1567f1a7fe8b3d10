import { approval, elicit, elicitUrl, listRoots, sample, step, waitFor } from '@mcp-saga/xstate';
import { isCancelled, isDeclined, isInvalid, isRefused, stepError } from '@mcp-saga/xstate';
import { logicOf, nodesOf, rootOf } from '@mcp-saga/xstate/internal';
import * as xstate from 'xstate';
import * as zod from 'zod';
import type { AnyStateMachine } from 'xstate';
import type { Exports } from '../../engine/load-files.ts';
import type { WaitingActors } from './waiting-actors.ts';

const helpers = { isCancelled, isDeclined, isInvalid, isRefused, stepError };
const logics = { approval, elicit, elicitUrl, listRoots, sample, step, waitFor };

/**
 * Returns modules whose promises, observables, and steps wait for the person at the page. `made`
 * gets each machine of the code.
 */
export function machineModules(
  actors: WaitingActors,
  made: AnyStateMachine[],
): Record<string, Exports> {
  const get = (known: Exports, src: string): unknown => known[src] ?? promise();
  const record = (machine: AnyStateMachine): AnyStateMachine => {
    const { implementations } = machine;
    const provide = machine.provide.bind(machine);
    // Actors that the code only names wait for the person, too.
    Object.assign(implementations, { actors: new Proxy(implementations.actors, { get }) });
    made.push(Object.assign(machine, { provide: (given: object) => record(provide(given)) }));
    return machine;
  };
  const recorded = (
    ready: Record<'createMachine' | 'extend', (config: unknown) => never>,
  ): object => ({
    ...ready,
    createMachine: (config: unknown) => record(ready.createMachine(config)),
    extend: (config: unknown) => recorded(ready.extend(config)),
  });
  const promise = (): unknown =>
    xstate.fromPromise(
      ({ self }) =>
        new Promise((resolve, reject) => void actors.waiting.push({ self, resolve, reject })),
    );
  const observable = (): unknown =>
    xstate.fromObservable(({ self }) => {
      const subscribe = (observer: xstate.Observer<unknown>): object => {
        const resolve = (value: unknown): void => {
          observer.next?.(value);
          observer.complete?.();
        };
        actors.waiting.push({ self, resolve, reject: (error) => observer.error?.(error) });
        return { unsubscribe: () => undefined };
      };
      return { subscribe } as never;
    });
  return {
    xstate: {
      ...xstate,
      createMachine: (...args: readonly [never]) => record(xstate.createMachine(...args)),
      setup: (config: never) => recorded(xstate.setup(config) as never),
      fromPromise: promise,
      fromObservable: observable,
      fromEventObservable: () => xstate.fromCallback(() => undefined),
      fromCallback: () => xstate.fromCallback(() => undefined),
    },
    '@mcp-saga/xstate': {
      ...helpers,
      ...Object.fromEntries(
        Object.entries(logics).map(([name, make]) => [name, waitingLogic(make, actors)]),
      ),
      // The page runs the machine, and not its saga.
      machineSaga: () => ({}),
    },
    zod,
  };
}

/** Returns the named and the invoked actors of a machine. */
export function logicsOf(machine: AnyStateMachine): readonly unknown[] {
  const invoked = nodesOf(rootOf(machine)).flatMap(({ invoke }) => invoke.map(({ src }) => src));
  return [
    ...Object.values(machine.implementations.actors),
    ...invoked.map((src) => logicOf(machine, src)),
  ];
}

/** Replaces the start of the logics that a function makes. */
function waitingLogic(make: unknown, { waiting }: WaitingActors): unknown {
  return (...args: readonly unknown[]) => ({
    ...(make as (...given: readonly unknown[]) => object)(...args),
    start: (_: unknown, { self }: { readonly self: xstate.AnyActorRef }) => {
      const end = (how: object): void => self.send({ type: 'mcp-saga.end', end: how });
      waiting.push({
        self,
        resolve: (output) => end({ output }),
        reject: (error) => end({ error }),
      });
    },
  });
}
