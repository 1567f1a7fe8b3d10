import type {
  SampleParams,
  HostSampling,
  Awaitable,
  SampleResult,
  Program,
  Compensator,
  Schema,
} from '@mcp-saga/core';
import type { KeysOption } from '@mcp-saga/seal';
import type { HostLimits } from './host-limits.ts';
import type { TaskStore } from './task-store.ts';
import type { PrincipalOption, SagaCaller } from './caller.ts';
import type { SagaGuard } from './guard.ts';
import type { HostHooks } from './hooks.ts';
import type { SagaTelemetry } from './telemetry.ts';

/** How a host offers MCP's tasks (extension `io.modelcontextprotocol/tasks`). */
export interface TaskOptions {
  /**
   * Keeps tasks that run server steps after the answer, ask questions, and can be cancelled. Without a store, a call becomes a
   * task only if it just waits. `memoryTaskStore()` is for one process.
   */
  readonly store?: TaskStore;
  /** How long a task is kept, in milliseconds from its creation. Default 24 hours; never past `limits.maxLifetimeMs`. */
  readonly ttlMs?: number;
  /**
   * Maximum length of a task ID, in characters. With a store, an ID has 45. Without a store, it holds the entire state,
   * in about 1,000 or more: a call whose ID would be longer is answered without a task. At most 4,096.
   *
   * @default 128, because Claude Code refuses longer IDs
   */
  readonly maxIdLength?: number;
  /** How often clients are told to ask, in milliseconds. Default one second. */
  readonly pollIntervalMs?: number;
  /**
   * `accept` offers tasks to unauthenticated callers: a task ID, found in headers or logs, then gives control of its task.
   * Default: authenticated callers only.
   */
  readonly bearer?: 'accept';
}

/** Options for resumable requests. */
export interface ResumableRequestOptions {
  /** `accept` offers resumable requests to unauthenticated callers: a used token in a log then gives the newest one. Default: none. */
  readonly bearer?: 'accept';
}

/** Options for refusals faster than any person, by clients without a user to ask. */
export interface InstantRefusalOptions {
  /** Longest time from the question to an instant refusal, in milliseconds. Default 1,000. */
  readonly withinMs?: number;
  /**
   * `refused`: the saga gets the refusal. `unsupported`: the saga continues as with a client without elicitation. Its fallback
   * answers, or the step throws `ClientCannot`. Clients can cause the same by declaring no elicitation.
   *
   * @default 'refused'
   */
  readonly treatAs?: 'refused' | 'unsupported';
}

/** Options for handles: short names for the tokens of the resume token dialect. */
export interface HandleOptions {
  /**
   * Store for the sealed state behind each handle. The stores of tasks fit: `memoryTaskStore()` for one process,
   * `redisTaskStore(client)` of `@mcp-saga/redis` for a fleet. One store can serve tasks and handles.
   */
  readonly store: TaskStore;
}

/**
 * Order in which a host tries who can answer a question. The first one that can is asked.
 *
 * - `client`: the user or the model at the client, where the client offers that. While a call runs, before `model`;
 * - `model`: the model that calls the tool, where `answers.model` accepts it and the dialect can ask it;
 * - `fallback`: what the author gave as `elicit(…, { fallback })`;
 * - `host`: the host's own `sampling`.
 */
export interface AnswerOrder {
  /** Default `['client', 'model', 'fallback']`. */
  readonly elicitation?: readonly ('client' | 'model' | 'fallback')[];
  /** Default `['client', 'host', 'model']`. */
  readonly sampling?: readonly ('client' | 'host' | 'model')[];
}

/** Facts about a turn that is about to run, for rate limits. */
export interface RateLimitFacts {
  readonly principal: string | null;
  readonly sagaId: string;
  /** The turn that would run, from 1. */
  readonly turn: number;
  /** Bytes of the token; 0 at the start. */
  readonly bytes: number;
  /** Bytes that the guard keeps of the saga, as an estimate; 0 at the start, and without a guard. */
  readonly keptBytes: number;
  /** Bytes of the token after decompression, which the cost of a turn grows with. 0 at the start. */
  readonly inflatedBytes: number;
}

/** Samples a model of the host's own for a saga. */
export type Sampling = (params: SampleParams, step: HostSampling) => Awaitable<SampleResult>;

/** Options for callers: who they are, and what they may do. */
export interface AuthOptions {
  /** Makes a principal of auth info. Required as soon as requests are authenticated. */
  readonly principal?: PrincipalOption;
  /** Returns `true` if a caller may use a saga. Called for every request and at `continueAs`. Default: any caller. */
  readonly authorize?: (
    caller: SagaCaller,
    saga: { readonly name: string; readonly version: string },
  ) => Awaitable<boolean>;
  /** Returns `true` if a turn may run now. Called once a request, after `authorize` and before replay. Default: always. */
  readonly rateLimit?: (facts: RateLimitFacts) => Awaitable<boolean>;
  /** Rejects every token issued before this time, in milliseconds since the epoch (not seconds). For incidents. */
  readonly rejectIssuedBefore?: number;
}

/** Options for the guard, which rejects a token that was already used. */
export interface GuardOptions {
  /** Store that forbids forks. Sagas with `forks: 'refuse'` and `once` steps need one. `memoryGuard()` is for one process. */
  readonly store: SagaGuard;
  /** Time that a request may run before a repeated one replaces it at the guard, in ms; over `limits.turnBudgetMs`. Default 60 s. */
  readonly leaseMs?: number;
  /**
   * While the guard is down, `closed` refuses requests until later, and `open` runs them as if older tokens did no harm. A `once`
   * step that cannot be claimed never runs. Default `closed`.
   */
  readonly onDown?: 'closed' | 'open';
}

/** Options for questions: who else answers them, and in which order. */
export interface AnswerOptions {
  /** Samples a model of the host if the client does not support sampling: a function of the params of `sampling/createMessage`. */
  readonly sampling?: Sampling;
  /**
   * `accept`: the model that calls the tool may answer questions for the user that the client cannot ask. Tools then list
   * an argument `answers`, and its answers are sealed as answers of a model.
   *
   * @default 'refuse'
   */
  readonly model?: 'accept' | 'refuse';
  /** Order in which a host tries who answers a question. */
  readonly order?: AnswerOrder;
  /** Treatment of refusals faster than any person. Default: reported to `onInstantRefusal`, and given to the saga. */
  readonly instantRefusals?: InstantRefusalOptions;
}

/** Options for tests and simulations: whatever varies between two runs. */
export interface TestingOptions {
  /** Returns the time, in milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Resolves after so many milliseconds, or at once when the signal aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Default: NODE_ENV. `development` and `test` allow ephemeral keys; `production` disables slow advice. */
  readonly environment?: string | undefined;
  /** Seals by the fast code of Node if the runtime has it, or by portable code. Default `auto`. */
  readonly sealing?: 'auto' | 'fast' | 'portable';
}

/** Options of a host. */
export interface SagaHostOptions {
  /** The sagas that the host serves. Each has a name of its own. */
  readonly sagas: readonly Program[];
  /**
   * The keys that seal and open tokens: `SAGA_KEYS="k2:<32 bytes base64url>,k1:<…>"`, a list, or JWKs. The first key
   * seals, every key opens. Default: the environment variable SAGA_KEYS. Without keys, a host starts only with
   * `'ephemeral'`, or if NODE_ENV is `development` or `test`: it draws a key that dies with the process. In every other
   * environment a key that is evidently not random is rejected.
   */
  readonly keys?: KeysOption | undefined;
  /**
   * Name of this service, sealed into each token: tokens of other services do not open here. Protects against mistakes; services
   * that share a key trust each other fully.
   */
  readonly audience: string;
  /** Callers: who they are, and what they may do. */
  readonly auth?: AuthOptions;
  /** The guard. Default: none. */
  readonly guard?: GuardOptions;
  /** Answers that do not come from the user of the client. */
  readonly answers?: AnswerOptions;
  /** Named compensators, for sagas whose code was changed or is gone. */
  readonly compensators?: readonly Pick<Compensator<Schema>, 'name' | 'run'>[];
  /** MCP's tasks, for clients that declare them. Default: offered if a saga declares `task`, without a store. */
  readonly tasks?: TaskOptions;
  /** Resumable requests, for clients that declare them. Default: offered to authenticated callers. */
  readonly resumableRequests?: ResumableRequestOptions;
  /** Replaces resume tokens for models by handles of 22 characters. The state stays in the store until it expires. Default: none. */
  readonly handles?: HandleOptions;
  /** Bounds and durations. */
  readonly limits?: Partial<HostLimits>;
  /** Callbacks for the operator. */
  readonly hooks?: HostHooks;
  /**
   * Shows turns and steps to a tracing system: `openTelemetry()` of `@mcp-saga/opentelemetry`. The trace parent of all
   * turns travels in the token, in about 60 bytes. Default: none.
   */
  readonly telemetry?: SagaTelemetry;
  /** Clock, sleep, and environment, for tests. */
  readonly testing?: TestingOptions;
}
