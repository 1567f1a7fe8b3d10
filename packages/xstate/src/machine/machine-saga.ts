import type { AnyStateMachine, AnyStateNode, InputFrom, OutputFrom } from 'xstate';
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
} from '@mcp-saga/core/program';
import { needsStore } from '../effects/machine-effects.ts';
import { logicsOf } from './list-logics.ts';
import { machineProgram } from './machine-program.ts';
import type { MigrationSource } from '../model/machine-options.ts';
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
   * Converts the state of a running saga for the changed machine. Must be pure, since it can be
   * called again. An error, or a returned state that does not fit, is a mismatch: under
   * `onMismatch: 'fail'`, nothing is undone.
   */
  readonly migrate?: (state: MigratedState, from: MigrationSource) => MigratedState;
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
 * Compile-time problem of a machine with the schemas of its saga; `unknown` if there is no problem.
 */
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
 * Creates a saga from an XState machine. The machine runs as under a live actor, and the token
 * stores the machine while only the client or a delay can continue. Arguments of the saga are the
 * machine's input; the machine's output is the result.
 *
 * - **Actors** in `setup({ actors })`: client steps (`elicit`, `elicitUrl`, `sample`, `listRoots`),
 *   effects (`step`, `fromPromise`), machines, and transition functions. A spawned actor needs a
 *   name in `setup` and an ID. IDs do not start with `~` or `!`, and do not contain `/`, `@`, or
 *   `#`. The output of a step or child machine is in its event only, not in a stored snapshot.
 * - **Context**: JSON, undefined, bigint, Date, Map, Set, URL, bytes, and references to children,
 *   but no errors.
 * - **Failure**: an error, or a final state tagged `compensate`, undoes the effects.
 * - **Delays**: the next request fires overdue delays first, each at its due time, then delivers
 *   the answers. An answer that arrives at most 30 s after a deadline still counts. Delays are
 *   rounded up to milliseconds. If the client cannot wait, the saga fails with `ClientCannot`.
 * - **Plain promises** are deferred as effects are (tasks, `commitEach`), have no timeout, and run
 *   again if the response was dropped. Use `step` to avoid repetitions.
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
>(
  options: MachineSagaOptions<I, O> & StoreOptions<Reuse, CommitEach>,
  machine: M & MachineProblem<M, I, O>,
): MachineSaga<I, O> & StoreNeed<never, Reuse, CommitEach> {
  assertKnownOptions('machineSaga', Object(options).name, options, {
    ...sagaOptionNames,
    drift: true,
    migrate: true,
  });
  // `saga` checks the options. The journal differs: it contains outcomes of effects, and no answers
  // for a replay.
  const { drift = 'compatible', migrate, ...sagaOptions } = options;
  const {
    body: _,
    history: __,
    restore: ___,
    ...base
  } = saga(sagaOptions as SagaOptions<I, O>, neverRun as never);
  const { name } = base;
  if ((machine as Partial<AnyStateMachine> | undefined)?.root === undefined) {
    throw new AuthoringError(
      `Saga '${name}' needs a machine. Pass setup({ … }).createMachine({ … }).`,
      { anchor: 'machines' },
    );
  }
  assertOutput(name, machine);
  const logics = logicsOf(machine);
  const byName = new Map(logics.map((named) => [named.name, named.logic]));
  const names = new Map(
    logics.map((named): [object, string] => [named.logic, named.name]).toReversed(),
  );
  const isGuarded = options.reuse !== 'ok' && logics.some(({ logic }) => needsStore(logic));
  const program: MachineSaga<I, O> = {
    ...base,
    ...(isGuarded ? { needsStore: true as const } : {}),
    ...machineProgram(
      {
        name,
        machine,
        onMismatch: base.onMismatch,
        drift,
        migrate,
        nameOf: (logic) => names.get(logic) ?? '',
        logicNamed: (logic) => byName.get(logic),
      },
      base,
    ),
  };
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return program as typeof program & StoreNeed<never, Reuse, CommitEach>;
}

/**
 * Refuses a machine that can complete, and has no output: its saga would fail for the missing
 * result after all effects have run.
 */
function assertOutput(name: string, { root }: AnyStateMachine): void {
  if (root.output !== undefined || !canComplete(root)) return;
  const misplaced = Object.values(root.states).find(({ output }) => output !== undefined);
  const hint =
    misplaced === undefined
      ? ''
      : ` The output of its state '${misplaced.key}' is not the output of the machine.`;
  throw new AuthoringError(
    `Saga '${name}' would end without a result, because its machine has no output.${hint} Give createMachine({ … }) an ` +
      '`output`: a string, a tool result, or a value that matches the output schema.',
    { anchor: 'invalid_result' },
  );
}

/**
 * `true` if a state can complete. A parallel state completes with all of its regions. A final state
 * tagged `compensate` fails on purpose.
 */
function canComplete(state: AnyStateNode): boolean {
  const children = Object.values(state.states);
  return state.type === 'parallel'
    ? children.every(canComplete)
    : children.some(({ type, tags }) => type === 'final' && !tags.includes('compensate'));
}

function* neverRun(): Generator<never, never> {
  yield* [];
  throw new TypeError('A machine saga has no body.');
}
