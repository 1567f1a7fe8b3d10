/**
 * Promises of a machine are steps: `fromPromise` of an existing machine gets the idempotency key, the
 * attempts, the journal, and the undo of a step, in a copy of the machine, and the option `steps`
 * gives it the options of one. So a response that was lost repeats no promise, and a provider that
 * gets the key acts once.
 *
 * - The code of a promise runs with the arguments that XState gives it. Its input and its result pass
 *   the codec, as those of a step.
 * - A promise has one attempt, whatever the host says of steps: its code may know nothing of a key.
 */
import { createMachine, type AnyActorLogic, type AnyActorRef, type AnyStateMachine } from 'xstate';
import type { StepContext, UndoFunction, WhenUnknown } from '@mcp-saga/core';
import { AuthoringError } from '@mcp-saga/core/program';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { namedLogicsOf } from '../adapter/xstate-nodes.ts';
import { asPromise, step, type StepLogicOptions } from '../author/step.ts';

/**
 * Options of a promise as a step. TypeScript does not know here which promise they are for, so the
 * result and the input of an undo have the type `any`.
 */
export type PromiseStepOptions = Pick<
  StepLogicOptions<unknown, unknown>,
  'retry' | 'timeout' | 'once' | 'reads' | 'undo' | 'label'
> &
  (PromiseUndo<'report'> | Required<PromiseUndo<'compensate'>>);

/** Undo of a promise: see `compensate` and `unknown` of `step`. */
interface PromiseUndo<When extends WhenUnknown> {
  readonly unknown?: When;
  // oxlint-disable-next-line typescript/no-explicit-any -- the promise is named by a string
  readonly compensate?: UndoFunction<any, any, When>;
}

type Options = { readonly [name: string]: PromiseStepOptions };
type Invoke = { readonly id?: string; readonly src?: unknown };
type StateConfig = {
  readonly states?: { readonly [key: string]: StateConfig };
  readonly invoke?: Invoke | readonly Invoke[];
};

/** The step of each running promise. Its key is read when its code asks for it, as in a step. */
const running = /* @__PURE__ */ new WeakMap<object, Pick<StepContext<unknown>, 'idempotencyKey'>>();

/**
 * Idempotency key of a running promise, for its provider: the same in each repetition. `self` is what
 * `fromPromise` gives its code.
 * @example
 * ```ts
 * import { fromPromise, type AnyActorRef } from 'xstate';
 *
 * const charge = fromPromise(({ input, self }: { input: { cents: number }; self: AnyActorRef }) =>
 *   bank.charge(input.cents, idempotencyKeyOf(self)),
 * );
 * ```
 */
export function idempotencyKeyOf(self: AnyActorRef): string {
  // Under a live actor, outside of a saga, each run has a key of its own.
  return running.get(self)?.idempotencyKey ?? `${self.id}:${self.sessionId}`;
}

/** Returns a copy of a machine whose promises are steps. Throws AuthoringError for unknown names. */
export function withPromiseSteps(
  name: string,
  machine: AnyStateMachine,
  options: Options,
): AnyStateMachine {
  const used = new Set<string>();
  const made = converted(machine, { options, used, prefix: '', above: new Map() });
  const unused = Object.keys(options).find((key) => !used.has(key));
  if (unused === undefined) return made;
  throw new AuthoringError(
    `Saga '${name}': the option \`steps\` names the promise '${unused}', which the machine does not have. Use the name in ` +
      "setup({ actors }), or the id of an invoke with its own fromPromise; in a child machine, 'child/name'.",
    { anchor: 'machines' },
  );
}

interface Conversion {
  readonly options: Options;
  /** Names of the promises that were found. */
  readonly used: Set<string>;
  /** Path of the names of the machines around this one. */
  readonly prefix: string;
  /** The machines around this one, with their copies: a machine may invoke itself. */
  readonly above: ReadonlyMap<AnyStateMachine, AnyStateMachine>;
}

function converted(
  machine: AnyStateMachine,
  { options, used, prefix, above }: Conversion,
): AnyStateMachine {
  const convert = (logic: AnyActorLogic, name: string | undefined): AnyActorLogic => {
    if (isMachine(logic)) {
      const inside = name === undefined ? prefix : `${prefix}${name}/`;
      return below.get(logic) ?? converted(logic, { options, used, prefix: inside, above: below });
    }
    if (kindOf(logic) !== 'promise') return logic;
    if (name === undefined) return stepOf(logic, {});
    const path = prefix + name;
    used.add(path);
    return stepOf(logic, Object.hasOwn(options, path) ? (options[path] ?? {}) : {});
  };
  const { implementations } = machine;
  // Filled afterwards: a machine may invoke itself.
  const actors: Record<string, AnyActorLogic> = {};
  const below = new Map(above);
  const config = convertedConfig(machine.config as StateConfig, convert);
  const made = createMachine(config as never, { ...implementations, actors });
  below.set(machine, made as AnyStateMachine);
  for (const [name, logic] of Object.entries(namedLogicsOf(machine)))
    actors[name] = convert(logic, name);
  return made as AnyStateMachine;
}

/** Converts the logics that a state invokes without a name. */
function convertedConfig(
  config: StateConfig,
  convert: (logic: AnyActorLogic, name: string | undefined) => AnyActorLogic,
): StateConfig {
  const inline = (invoke: Invoke): Invoke =>
    typeof invoke.src === 'object' && invoke.src !== null
      ? { ...invoke, src: convert(invoke.src as AnyActorLogic, invoke.id) }
      : invoke;
  const { invoke, states } = config;
  return {
    ...config,
    ...(invoke === undefined
      ? {}
      : { invoke: Array.isArray(invoke) ? invoke.map(inline) : inline(invoke as Invoke) }),
    ...(states === undefined
      ? {}
      : {
          states: Object.fromEntries(
            Object.entries(states).map(([key, state]) => [key, convertedConfig(state, convert)]),
          ),
        }),
  };
}

interface PromiseArguments {
  readonly input: unknown;
  readonly self: AnyActorRef;
  readonly system: unknown;
  readonly signal: AbortSignal;
  readonly emit: (event: unknown) => void;
}

function stepOf(logic: AnyActorLogic, options: PromiseStepOptions): AnyActorLogic {
  const { config: code } = logic as unknown as {
    readonly config: (given: PromiseArguments) => unknown;
  };
  const run = (context: StepContext<unknown> & { readonly self?: AnyActorRef }): unknown => {
    const { input, signal } = context;
    const self = context.self as AnyActorRef;
    running.set(self, context);
    return code({ input, signal, self, system: self.system, emit: () => undefined });
  };
  return asPromise(step(run as never, { retry: 1, ...options } as never));
}
