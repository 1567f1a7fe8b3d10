import type { AnyStateMachine, InputFrom, OutputFrom } from 'xstate';
import {
  saga,
  type BodyInput,
  type BodyResult,
  type Program,
  type SagaOptions,
  type Schema,
} from '@mcp-saga/core';
import { AuthoringError, assertKnownOptions, sagaOptionNames } from '@mcp-saga/core/program';
import { needsForks } from '../effects/effects.ts';
import { logicsOf } from './list-logics.ts';
import { machineProgram } from './machine-program.ts';
import type { MigrationSource } from '../model/machine-options.ts';
import type { MigratedState } from '../model/machine-state.ts';

/** What a machine saga is, apart from its machine: see the options of `saga`. */
export interface MachineSagaOptions<
  I extends Schema | undefined,
  O extends Schema | undefined,
> extends SagaOptions<I, O> {
  /**
   * Treatment of running sagas after a change of the machine without a new version. `compatible`: they continue if all state
   * fits; `refuse`: never. Then `migrate` is asked, then `onMismatch`. Default `compatible`.
   */
  readonly drift?: 'compatible' | 'refuse';
  /**
   * Converts the state of a running saga for the changed machine. It must be pure, since it may be called again. A migration
   * that throws, or returns a state that does not fit, is a mismatch: nothing is undone under `onMismatch: 'fail'`.
   */
  readonly migrate?: (state: MigratedState, from: MigrationSource) => MigratedState;
}

/** A saga made of a machine: give it to a host. */
export interface MachineSaga<I extends Schema | undefined, O extends Schema | undefined> extends Program {
  readonly input: I;
  readonly output: O;
}

/** What is wrong with a machine for a saga of these schemas; unknown where nothing is. */
export type MachineProblem<
  M extends AnyStateMachine,
  I extends Schema | undefined,
  O extends Schema | undefined,
> = [BodyInput<I>] extends [InputFrom<M>]
  ? [OutputFrom<M>] extends [BodyResult<O>]
    ? unknown
    : { readonly 'the machine must declare types.output, as the saga returns it': BodyResult<O> }
  : { readonly 'the machine takes another input than the saga gives it': BodyInput<I> };

/**
 * Makes a saga of an XState machine: the same kind of tool as `saga(…)` makes of a generator. The machine runs as it does
 * under a live actor; whenever it waits for its client or a delay alone, it is kept in the token.
 *
 * Name what the client does in `setup({ actors })`: `elicit`, `elicitUrl`, `sample`, `listRoots`; and side effects: `step`, or a
 * plain `fromPromise`. The saga's arguments are the machine's input, the machine's output is the saga's result. A machine
 * that ends in an error, or in a final state tagged `compensate`, has failed, and what its effects did is undone.
 *
 * `after` and other delays pass between requests: the next request lets overdue delays pass first, each at its own time, and
 * then delivers its answers. An answer that arrives at most 30 s after a deadline still counts. Delays are rounded up to whole
 * milliseconds. A wait that the client cannot be kept for ends the saga with `ClientCannot`, since there is no step that
 * could be told.
 *
 * The context must be plain data: JSON, undefined, bigint, Date, Map, Set, URL, bytes, and references to children; no
 * errors. Actors that are spawned need a name in `setup` and an id. Ids begin with no `~` or `!`, and have no `/`, `@` or `#`. What a step or a child machine came to is in its event
 * only: once kept, its snapshot has no output. A plain promise waits for a later turn wherever an effect does (`commitFirst`,
 * a task, a token after each step), is awaited however long it takes, and runs again when the answer to its request was
 * lost; use `step` if that matters. Actions run wherever the machine goes, in a turn that only looks as well: let them
 * change nothing outside of the machine. XState itself leaves orphans where a history state is targeted from inside its own
 * parent, and where one id is spawned twice.
 *
 * @throws AuthoringError where the options cannot be meant, or the machine has actors that cannot be kept
 */
export function machineSaga<
  M extends AnyStateMachine,
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
>(options: MachineSagaOptions<I, O>, machine: M & MachineProblem<M, I, O>): MachineSaga<I, O> {
  assertKnownOptions(
    'machineSaga',
    Object(options).name,
    options,
    new Set([...sagaOptionNames, 'drift', 'migrate']),
  );
  // Another body, the same options: what cannot be meant is refused in the same words. The journal is another one: it holds
  // what effects did, and no answers that a replay could be given.
  const { drift = 'compatible', migrate, ...sagaOptions } = options;
  const {
    body: _,
    history: __,
    restore: ___,
    ...base
  } = saga(sagaOptions as SagaOptions<I, O>, neverRun as never);
  const { name } = base;
  if ((machine as Partial<AnyStateMachine> | undefined)?.root === undefined) {
    throw new AuthoringError(`Saga '${name}' needs a machine: setup({ … }).createMachine({ … }).`);
  }
  const logics = logicsOf(machine);
  const byName = new Map(logics.map((named) => [named.name, named.logic]));
  const names = new Map(logics.map((named): [object, string] => [named.logic, named.name]).toReversed());
  const undeclared = options.forks === undefined ? logics.find(({ logic }) => needsForks(logic)) : undefined;
  if (undeclared !== undefined) {
    throw new AuthoringError(
      `Saga '${name}' must declare forks, since its step '${undeclared.name}' compensates or runs once: ` +
        "forks: 'refuse' with a guard on the host, or forks: 'accept' where an older token used again does no harm.",
    );
  }
  return {
    ...base,
    ...machineProgram(
      {
        name,
        machine,
        commitFirst: base.commitEach === true || (options.commitFirst ?? false),
        onMismatch: base.onMismatch,
        drift,
        migrate,
        nameOf: (logic) => names.get(logic) ?? '',
        logicNamed: (logic) => byName.get(logic),
      },
      base,
    ),
  };
}

function* neverRun(): Generator<never, never> {
  yield* [];
  throw new TypeError('A machine saga has no body.');
}
