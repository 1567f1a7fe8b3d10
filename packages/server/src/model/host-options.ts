import type {
  SampleParams,
  HostSampling,
  Awaitable,
  SampleResult,
  Program,
  Compensator,
  Schema,
} from '@mcp-saga/core';
import type { KeysOption, Limits as SealLimits } from '@mcp-saga/seal';
import type { TaskStore } from './task-store.ts';
import type { PrincipalOption, Caller } from './caller.ts';
import type { SagaGuard } from './guard.ts';
import type { HostHooks } from './hooks.ts';
import type { SagaTelemetry } from './telemetry.ts';

/** How a host offers MCP's tasks (extension `io.modelcontextprotocol/tasks`). */
export interface TaskOptions {
  /**
   * Keeps tasks that do more than wait: they run server steps after the answer, ask questions, and can be cancelled.
   * Without a store a call becomes a task only where nothing is left to do but wait. `memoryTaskStore()` is for one
   * process.
   */
  readonly store?: TaskStore;
  /** How long a task is kept, in milliseconds from its creation. Default 24 hours; never past `maxLifetime`. */
  readonly ttl?: number;
  /**
   * Maximum length of a task ID, in characters. With a store, an ID has 45. Without a store, it holds the entire state,
   * in about 1,000 or more: a call whose ID would be longer is answered without a task. At most 4,096.
   *
   * @default 128, because Claude Code refuses longer IDs
   */
  readonly maxIdLength?: number;
  /** How often clients are told to ask, in milliseconds. Default one second. */
  readonly pollInterval?: number;
  /**
   * `accept` offers tasks to callers that are not authenticated: whoever has the id of such a task, which stands in
   * headers and logs, sees its result, answers its questions and cancels it. (T14) Default: they get none.
   */
  readonly bearer?: 'accept';
}

/** Options for resumable requests. */
export interface ResumableRequestOptions {
  /**
   * `accept` offers resumable requests to unauthenticated callers. A used token of such a call, found in a log, then gives
   * the newest token and its question. Default: authenticated callers only.
   */
  readonly bearer?: 'accept';
}

/**
 * Options for refusals faster than any person, by clients without a user to ask.
 *
 * @example
 * ```ts
 * const instantRefusals: InstantRefusalOptions = { treatAs: 'unsupported', withinMs: 300 };
 * ```
 */
export interface InstantRefusalOptions {
  /**
   * Time from the question to the refusal within which the refusal is instant, in milliseconds.
   *
   * @default 1000
   */
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
 * In which order a host tries who can answer a question: the first one that can is asked. (W3)
 *
 * - `client`: the user or the model at the client, where the client offers that. While a call runs, before `model`;
 * - `model`: the model that calls the tool, where `modelAnswers` accepts it and the dialect can ask it;
 * - `fallback`: what the author gave as `elicit(…, { fallback })`;
 * - `host`: the host's own `sampling`.
 */
export interface Ladder {
  /** Default `['client', 'model', 'fallback']`. */
  readonly elicitation?: readonly ('client' | 'model' | 'fallback')[];
  /** Default `['client', 'host', 'model']`. */
  readonly sampling?: readonly ('client' | 'host' | 'model')[];
}

/** Facts by which a host decides whether a turn may run. */
export interface AdmissionFacts {
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

/** What a host is made of. */
export interface SagaHostOptions {
  /** The sagas it serves. No two may have the same name. */
  readonly sagas: readonly Program[];
  /**
   * The keys that seal and open tokens: `SAGA_KEYS="k2:<32 bytes base64url>,k1:<…>"`, a list, or JWKs. The first
   * seals, every one opens. Default: the environment variable SAGA_KEYS. Without keys a host does not start, but for
   * `'ephemeral'`, and for NODE_ENV `development` or `test`, where it draws a key that dies with the process. A key
   * that is evidently not random is refused in every other environment. (T7)
   */
  readonly keys?: KeysOption | undefined;
  /**
   * The name of this service, sealed into each token: a token of another service does not open here. That protects
   * against mistakes; services that share a key trust each other fully.
   */
  readonly audience: string;
  /** Makes a principal of auth info. Needed as soon as requests are authenticated. (T6) */
  readonly principal?: PrincipalOption;
  /** Whether a caller may use a saga: asked of every request, and where one goes on as another saga. Default: yes. */
  readonly authorize?: (
    caller: Caller,
    saga: { readonly name: string; readonly version: string },
  ) => Awaitable<boolean>;
  /**
   * Whether a turn may run now, asked after the token was opened and before anything is replayed: rate limits. Once a
   * request: the turns that the host takes by itself behind it belong to the one that was let in.
   */
  readonly admit?: (facts: AdmissionFacts) => Awaitable<boolean>;
  /**
   * The store that forbids forks: without one an older token can be used again. Needed by sagas with
   * `forks: 'refuse'` and by `once`. `memoryGuard()` is for one process. (E7, T13)
   */
  readonly guard?: SagaGuard;
  /**
   * What becomes of a request while the guard cannot be asked: `closed` (default) runs nothing and says to come again;
   * `open` runs it unguarded, as if going back did no harm. A step that shall run `once` and cannot be claimed does not
   * run either way, and the client is told to come again.
   */
  readonly whenGuardIsDown?: 'closed' | 'open';
  /**
   * How long a request may run before a repeated one may take its place at the guard, in milliseconds. Longer than
   * `turnBudget`. Default 60 s.
   */
  readonly guardLease?: number;
  /**
   * A model of the host's own, for sagas that sample where the client does not offer it: any asynchronous function of
   * MCP's `sampling/createMessage` parameters. (W3)
   */
  readonly sampling?: Sampling;
  /**
   * Whether the model that calls the tool may answer questions meant for the user, where the client cannot ask them:
   * `accept` lists an argument `answers`. What is answered so is sealed as a model's answer. Default `refuse`. (T14)
   */
  readonly modelAnswers?: 'accept' | 'refuse';
  /** In which order it is tried who answers a question. (W3) */
  readonly ladder?: Ladder;
  /**
   * Number of rounds after which clients abandon a call. A saga with more rounds, or with a longer wait than fits into
   * them, ends the call with a resume token, and the model calls again. The host warns the author before the last round.
   * Clients based on rmcp stop after 9 rounds, the official SDK after 10.
   *
   * @default 9
   */
  readonly clientRounds?: number;
  /** Treatment of refusals faster than any person. Default: reported to `onInstantRefusal`, and given to the saga. */
  readonly instantRefusals?: InstantRefusalOptions;
  /** Named compensators, for sagas whose code was changed or is gone. */
  readonly compensators?: readonly Pick<Compensator<Schema>, 'name' | 'run'>[];
  /** MCP's tasks, for clients that declare them. Default: offered where a saga says `task`, without a store. */
  readonly tasks?: TaskOptions;
  /** Resumable requests, for clients that declare them. Default: offered to authenticated callers. */
  readonly resumableRequests?: ResumableRequestOptions;
  /**
   * Replaces each resume token, which a model has to copy, by a handle of 22 characters. The sealed state stays in the
   * store until the token expires. All checks and refusals are those of tokens. Default: no handles.
   */
  readonly handles?: HandleOptions;
  /** How long each token is good from its own issue, in milliseconds. Fractions are rounded up. Default one hour. */
  readonly tokenTtl?: number;
  /**
   * How long a saga may take from its start to its end, in milliseconds. Tokens expire by then, except tokens that only
   * continue compensation. A `sleep` beyond it is `ClientCannot`. Fractions are rounded up. Default seven days.
   */
  readonly maxLifetime?: number;
  /** How long server steps may run in one request before the client gets a token between two of them. Default 25 s. (U4) */
  readonly turnBudget?: number;
  /** How long a wait is held in a request before it becomes a token, in milliseconds. Default 20 s. (W6) */
  readonly maxHold?: number;
  /** Refuses every token issued before this time (ms since the epoch, not seconds): for incidents. */
  readonly rejectIssuedBefore?: number;
  readonly limits?: Partial<HostLimits>;
  readonly hooks?: HostHooks;
  /**
   * Time limit of `onSuspended` and `onSettled`, in milliseconds. After that, the request continues without the hook, and
   * `onError` gets `hook_timeout`. Default 10 s.
   */
  readonly hookTimeoutMs?: number;
  /**
   * Shows turns and steps to a tracing system: `openTelemetry()` of `@mcp-saga/opentelemetry`. What all turns of a saga
   * hang on travels in its token, 60 bytes or so. Default: none, at no cost; what a token carries is carried on.
   */
  readonly telemetry?: SagaTelemetry;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Waits: resolves after so many milliseconds, or at once when the signal aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /**
   * Default: NODE_ENV. `development` and `test` allow ephemeral keys; `development` shows errors in the console;
   * `production` switches advice off that costs time to find.
   */
  readonly environment?: string | undefined;
  /** Which implementation seals: the fast one of Node where it can be had, or the portable one. Default `auto`. */
  readonly sealing?: 'auto' | 'fast' | 'portable';
}

/** All bounds of a host, in one table. (T11) */
export interface HostLimits extends SealLimits {
  /** Entries in the journal of one saga. Default 10,000. */
  readonly maxJournalEntries: number;
  /**
   * Commands a body may yield in one turn, replayed ones included; or steps that a machine may take, of which delays that
   * passed while nobody called take one each. Default 100,000.
   */
  readonly maxCommands: number;
  /**
   * Bytes of the arguments of a call that starts a saga, as JSON. Larger arguments are refused, and meet no schema. Default
   * `maxTokenBytes`: the token carries them through the whole saga.
   */
  readonly maxArgumentBytes: number;
  /** Answers in one request, repeated ones included. Default 2,000. */
  readonly maxAnswers: number;
  /**
   * Bytes of one answer, as JSON. A larger one meets no schema and is asked again, with the reason. Default four times
   * `maxTokenBytes`, since answers are compressed.
   */
  readonly maxAnswerBytes: number;
  /**
   * Bytes of responses that a guard keeps of one saga at a time, as an estimate. A turn that comes with more is refused with
   * `guard_full` until some have expired; to cancel and to undo are never refused. Default 16 MiB.
   */
  readonly maxKeptBytesPerSaga: number;
  /**
   * Bytes that a guard keeps at a time for one principal, over all of its sagas. A turn beyond is refused with `guard_full`
   * until some have expired; to cancel and to undo are never refused. Callers without a principal are not counted. Default 256 MiB.
   */
  readonly maxKeptBytesPerPrincipal: number;
}
