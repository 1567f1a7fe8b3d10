import type { Program, SagaHostOptions, Schema, ToolResult } from '@mcp-saga/server';
import type { InferInput, InferOutput, User, NamesOf } from '@mcp-saga/server/internal';

/** Options of the host that a test may set. */
export type TestHostOptions = Pick<
  SagaHostOptions,
  'answerers' | 'compensators' | 'limits' | 'starts' | 'steps'
>;

/** Receives each call of a provider, by its idempotency key. */
export type ProviderObserver = (key: string, action: 'do' | 'undo') => void;

/** Fake with checked calls, such as a `Provider`. */
export interface TestProvider {
  /** Keys of effects that were not undone. */
  readonly standingKeys: readonly string[];
  /** Reports each call to `observer`; undefined: to nothing. */
  observe(observer: ProviderObserver | undefined): void;
  /** Forgets everything. */
  reset(): void;
}

/** Options of `testSaga`. */
export interface TestSagaOptions {
  /** Arguments of the saga. Default: none. */
  readonly input?: unknown;
  /** Start of the clock: a date, or milliseconds since the epoch. Default: 2030-01-15T12:00:00Z. */
  readonly clock?: Date | number;
  /**
   * Seed of `random()`, `uuid()`, and retry jitter. Part of idempotency keys, for fakes shared by
   * several runs. @default 1
   */
  readonly seed?: number;
  /** Services that steps receive, such as fakes: a value, or a function that makes them per turn. */
  readonly services?: SagaHostOptions['services'];
  /**
   * User of each request, which steps receive as `user`. The turns of a queue have none.
   * @default none
   */
  readonly user?: User;
  /**
   * Lets a queue run each turn that it may run, but not of a saga with `reuse: 'ok'`. There is no
   * request then, so its steps get no `user`.
   * @default false
   */
  readonly queue?: boolean;
  /**
   * `false`: the host has no store, so a client may use older tokens again, and undos, `pivot`, and
   * `once` are refused. Set it if production has no store either. Default: a store in memory.
   */
  readonly store?: false;
  /** Sagas to continue as. */
  readonly sagas?: readonly Program[];
  /**
   * Fakes of the steps, reset before each run. A run fails if a fake gets a key of no step, or is
   * called after the code of the step ended. Explorers report effects that stay in them.
   */
  readonly providers?: readonly TestProvider[];
  /** Called before each run: resets fakes. Explorers run a saga many times. */
  readonly before?: () => unknown;
  /**
   * Called before each turn, to change the environment of a new process, such as the order of
   * plugins.
   */
  readonly restart?: (turn: number) => unknown;
  /** Options of the host. */
  readonly host?: TestHostOptions;
  /** Maximum number of turns. Default 10,000. */
  readonly maxTurns?: number;
}

export const testSagaNames: NamesOf<TestSagaOptions> = {
  input: true,
  clock: true,
  seed: true,
  services: true,
  user: true,
  queue: true,
  store: true,
  sagas: true,
  providers: true,
  before: true,
  restart: true,
  host: true,
  maxTurns: true,
};

/** `true` if each token of a saga counts once in its test. */
export function isSingleUse({
  saga,
  options,
}: {
  readonly saga: Program;
  readonly options: TestSagaOptions;
}): boolean {
  return saga.reuse !== 'ok' && options.store !== false;
}

/** Arguments of a saga, before its schema parses them. */
export type InputOf<P extends Program> = P extends { readonly input: infer I extends Schema }
  ? InferInput<I>
  : unknown;

/** Result of a saga. */
export type ResultOf<P extends Program> = P extends { readonly output: infer O extends Schema }
  ? InferOutput<O>
  : P extends { readonly output: undefined }
    ? string | ToolResult
    : unknown;

/** Options of a test. Required if the saga needs an argument. */
export type OptionsParameter<P extends Program> = P extends { readonly input: Schema }
  ? Partial<InputOf<P>> extends InputOf<P>
    ? [options?: Omit<TestSagaOptions, 'input'> & { readonly input?: InputOf<P> }]
    : [options: Omit<TestSagaOptions, 'input'> & { readonly input: InputOf<P> }]
  : [options?: TestSagaOptions];
