import type { Program, SagaHostOptions, Schema, ToolResult } from '@mcp-saga/server';
import type { InferInput, InferOutput } from '@mcp-saga/server/internal';
import type { NamesOf } from '../values/known-options.ts';

/** What of a host a test may want otherwise. */
export type TestHostOptions = Pick<SagaHostOptions, 'answers' | 'compensators' | 'limits'>;

/** Receives each call of a provider, by its idempotency key. */
export type ProviderObserver = (key: string, action: 'do' | 'undo') => void;

/** A fake whose calls the kit checks, such as a `Provider`. */
export interface TestProvider {
  /** Keys of what was done and not undone. */
  readonly standingKeys: readonly string[];
  /** Reports each call to `observer`, or to nothing if it is undefined. */
  observe(observer: ProviderObserver | undefined): void;
  /** Forgets everything. */
  reset(): void;
}

/** What a run is made of, whatever its saga. */
export interface TestSagaOptions {
  /** The arguments. Default: none. */
  readonly input?: unknown;
  /** When it starts: a date, or milliseconds since the epoch. Default: 2030-01-15T12:00:00Z. */
  readonly clock?: Date | number;
  /**
   * What `random()`, `uuid()` and the jitter of retries are made of; named, it stands in the idempotency keys too, so that
   * two runs can act on one fake. Default 1.
   */
  readonly seed?: number;
  /** Handed to steps as `context`. */
  readonly context?: unknown;
  /** Other sagas that this one goes on as, with `continueAs`. */
  readonly sagas?: readonly Program[];
  /**
   * Fakes that steps act on. Each is reset before a run. The run fails if a fake is called with a key that no step has, or after the
   * code of the step has ended; explorers report what is not undone in them.
   */
  readonly providers?: readonly TestProvider[];
  /** Called before each run: resets the fakes that the saga acts on. Those who explore run a saga many times. */
  readonly before?: () => unknown;
  /** Called before each turn: what a fresh process would find otherwise, such as the order in which plugins register. */
  readonly restart?: (turn: number) => unknown;
  /** What of the host is to be otherwise. */
  readonly host?: TestHostOptions;
  /** How many turns a saga may take before it is taken for one without end. Default 10,000. */
  readonly maxTurns?: number;
}

/** The names of all options of `testSaga`. */
export const testSagaNames: NamesOf<TestSagaOptions> = {
  input: true,
  clock: true,
  seed: true,
  context: true,
  sagas: true,
  providers: true,
  before: true,
  restart: true,
  host: true,
  maxTurns: true,
};

/** The arguments a saga takes, before its schema has parsed them. */
export type InputOf<P extends Program> = P extends { readonly input: infer I extends Schema }
  ? InferInput<I>
  : unknown;

/** What a saga returns, as its caller gets it. */
export type ResultOf<P extends Program> = P extends { readonly output: infer O extends Schema }
  ? InferOutput<O>
  : P extends { readonly output: undefined }
    ? string | ToolResult
    : unknown;

/** The options of a test of one saga: to be given where the saga takes arguments. */
export type OptionsParameter<P extends Program> = P extends { readonly input: Schema }
  ? [options: Omit<TestSagaOptions, 'input'> & { readonly input: InputOf<P> }]
  : [options?: TestSagaOptions];
