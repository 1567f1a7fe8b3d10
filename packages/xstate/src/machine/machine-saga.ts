import type { AnyActorLogic, AnyStateMachine, InputFrom, OutputFrom, SnapshotFrom } from 'xstate';
import {
  saga,
  type BodyInput,
  type BodyResult,
  type Program,
  type SagaOptions,
  type Schema,
} from '@mcp-saga/core';
import {
  AuthoringError,
  assertKnownOptions,
  sagaOptionNames,
  type StoreNeed,
  type StoreOptions,
  engineOf,
} from '@mcp-saga/core/program';
import { needsStore } from '../effects/machine-effects.ts';
import { logicsOf } from './list-logics.ts';
import { withPromiseSteps, type PromiseStepOptions } from './promise-steps.ts';
import { withOutput } from './machine-output.ts';
import { withAsks, type StateAsk } from './asked-states.ts';
import { machineEngine } from './machine-engine.ts';
import type { MachineProgramOptions, MigrationSource } from '../model/machine-options.ts';
import type { MigratedState } from '../model/machine-state.ts';

/** Options of {@link machineSaga}. See the options of `saga`. */
export interface MachineSagaOptions<
  I extends Schema | undefined,
  O extends Schema | undefined,
> extends SagaOptions<I, O> {
  /**
   * Treatment of running sagas after a change of the machine without a new version. `compatible`:
   * continue if all stored state fits. `refuse`: never continue. If a saga cannot continue,
   * `migrate` is called, then `onMismatch` applies.
   * @default 'compatible'
   */
  readonly drift?: 'compatible' | 'refuse';
  /**
   * Converts the state of a running saga for the changed machine: one that does not fit, or one of
   * another `version` of the machine. Must be pure, since it can be called again. An error, or a
   * returned state that does not fit, is a mismatch: under `onMismatch: 'fail'`, nothing is undone.
   */
  readonly migrate?: (state: MigratedState, from: MigrationSource) => MigratedState;
  /**
   * Options for the promises of the machine, which are steps: by their names in `setup({ actors })`,
   * or by the `id` of an invoke with its own `fromPromise`; in a child machine, `child/name`.
   * Default: one attempt, without an undo.
   */
  readonly steps?: { readonly [name: string]: PromiseStepOptions };
}

/** Saga made of a machine, for a host. */
export interface MachineSaga<
  I extends Schema | undefined,
  O extends Schema | undefined,
> extends Program {
  readonly input: I;
  readonly output: O;
}

/**
 * Option that makes the result of the saga from the last snapshot of its machine. It is required if
 * `types.output` of the machine does not say what the saga returns: declare it there, or write the
 * option.
 */
export interface ResultOption<M extends AnyStateMachine, O extends Schema | undefined> {
  /**
   * Makes the result of the saga from the last snapshot of the machine: for a machine without an
   * output, or with another one than the tool should return. Default: the output of the root, or of
   * the final state that was reached.
   */
  readonly result: (end: SnapshotFrom<M>) => BodyResult<O>;
}

/** Option for a machine that waits for events from outside, in `A`: its states with their logics. */
export interface AsksOption<
  M extends AnyStateMachine,
  A extends { readonly [state: string]: AnyActorLogic },
> {
  /**
   * States that wait for events from outside, by their names (`paying.confirming` for a state in a
   * state, `(machine)` for the machine, which is asked to its end), with who is asked for the event.
   * `'internal'`: another part of the machine sends it. `'end'`: the saga ends when the state is
   * entered, with the option `result`.
   */
  readonly asks?: { readonly [state in keyof A]: StateAsk<M, A[state]> | 'internal' | 'end' };
}

/** The option `result`, which a machine with a fitting output may leave out. */
type ResultOf<M extends AnyStateMachine, O extends Schema | undefined> = [OutputFrom<M>] extends [
  BodyResult<O>,
]
  ? Partial<ResultOption<M, O>>
  : ResultOption<M, O>;

/** Compile-time problem of a machine with the input of its saga; `unknown` if there is no problem. */
export type MachineProblem<M extends AnyStateMachine, I extends Schema | undefined> = [
  BodyInput<I>,
] extends [InputFrom<M>]
  ? unknown
  : { readonly 'the machine takes another input than the saga gives it': BodyInput<I> };

/**
 * Creates a saga from an XState machine. The machine runs as under a live actor, and the token
 * stores the machine while only the client or a delay can continue. Arguments of the saga are the
 * machine's input. The result is the output of the machine, or of the final state that it reached.
 *
 * - **Actors** in `setup({ actors })`: client steps (`elicit`, `elicitUrl`, `sample`, `listRoots`),
 *   effects (`step`, `fromPromise`), machines, and transition functions. A spawned actor needs a
 *   name in `setup` and an ID. IDs do not start with `~` or `!`, and do not contain `/`, `@`, or
 *   `#`. The output of a step or child machine is in its event only, not in a stored snapshot.
 * - **Context**: JSON, undefined, bigint, Date, Map, Set, URL, bytes, references to children, and
 *   errors, of which `name`, `message`, `code`, `status`, `data`, and three causes are kept.
 * - **Failure**: an error, or a final state tagged `compensate`, undoes the effects.
 * - **Delays**: the next request fires overdue delays first, each at its due time, then delivers
 *   the answers. An answer that arrives at most 30 s after a deadline still counts. Delays are
 *   rounded up to milliseconds. If the client cannot wait, the saga fails with `ClientCannot`.
 * - **Promises** (`fromPromise`) are steps with one attempt, in a copy of the machine: recorded, with
 *   an idempotency key (`idempotencyKeyOf`), and with the options of `steps`. A machine that leaves
 *   the state of a promise does not await it, and never undoes it, since it may still act.
 * - **Actions** also run in status requests, so actions must not have external effects.
 *
 * Known limits of XState: a history state targeted from inside its parent, or an ID spawned twice,
 * leaves orphaned actors.
 * @throws AuthoringError if an option is invalid, or the machine has actors that cannot be stored
 * @example
 * ```ts
 * import { setup } from 'xstate';
 *
 * const ask = elicit({ message: 'Erase the disk?', schema: z.object({ sure: z.boolean() }) });
 * const machine = setup({ types: { output: {} as string }, actors: { ask } }).createMachine({
 *   initial: 'asking',
 *   states: { asking: { invoke: { id: 'ask', src: 'ask', onDone: 'done' } }, done: { type: 'final' } },
 *   output: 'Erased.',
 * });
 * export const erase = machineSaga({ name: 'erase', version: '1' }, machine);
 * ```
 */
export function machineSaga<
  M extends AnyStateMachine,
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
  Reuse extends 'ok' | undefined = undefined,
  CommitEach extends boolean | undefined = false,
  A extends { readonly [state: string]: AnyActorLogic } = {},
>(
  options: MachineSagaOptions<I, O> &
    AsksOption<M, A> &
    ResultOf<M, O> &
    StoreOptions<Reuse, CommitEach>,
  machine: M & MachineProblem<M, I>,
): MachineSaga<I, O> & StoreNeed<never, Reuse, CommitEach> {
  assertKnownOptions('machineSaga', Object(options).name, options, {
    ...sagaOptionNames,
    asks: true,
    drift: true,
    migrate: true,
    result: true,
    steps: true,
  });
  // `saga` checks the options.
  const {
    asks = {},
    drift = 'compatible',
    migrate,
    result,
    steps = {},
    ...sagaOptions
  } = options as typeof options & Partial<ResultOption<M, O>>;
  const defined = saga(sagaOptions as SagaOptions<I, O>, neverRun as never);
  const { body: _, ...base } = defined;
  const { name } = base;
  if ((machine as Partial<AnyStateMachine> | undefined)?.root === undefined) {
    throw new AuthoringError(
      `Saga '${name}' needs a machine. Pass setup({ … }).createMachine({ … }).`,
      { anchor: 'machines' },
    );
  }
  if (result !== undefined && typeof result !== 'function') {
    throw new AuthoringError(
      `Saga '${name}' has a \`result\` that is no function. Write result: ({ context, value }) => ….`,
      { anchor: 'machines' },
    );
  }
  const hasResult = result !== undefined;
  const told = withOutput(name, machine, hasResult);
  const { machine: asking, asked } = withAsks(name, told, asks, hasResult);
  const served = withPromiseSteps(name, asking, steps);
  const logics = logicsOf(served);
  const byName = new Map(logics.map((named) => [named.name, named.logic]));
  const names = new Map(
    logics.map((named): [object, string] => [named.logic, named.name]).toReversed(),
  );
  const isGuarded = options.reuse !== 'ok' && logics.some(({ logic }) => needsStore(logic));
  const program: MachineSaga<I, O> = {
    ...base,
    ...(isGuarded ? { needsStore: true as const } : {}),
    engine: machineEngine(
      {
        name,
        machine: served,
        asked,
        result: result as MachineProgramOptions['result'],
        onMismatch: base.onMismatch,
        drift,
        migrate,
        nameOf: (logic) => names.get(logic) ?? '',
        logicNamed: (logic) => byName.get(logic),
      },
      engineOf(defined),
    ),
  };
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return program as typeof program & StoreNeed<never, Reuse, CommitEach>;
}

function* neverRun(): Generator<never, never> {
  yield* [];
  throw new TypeError('A machine saga has no body.');
}
