import type {
  Awaitable,
  Compensator,
  HostSampling,
  Program,
  Schema,
  SampleParams,
  SampleResult,
} from '@mcp-saga/core';
import { createSealer, type KeysOption, type Sealer } from '@mcp-saga/seal';
import type { Caller, PrincipalOption } from './caller.ts';
import type { ResumableRequestOptions } from '../dialects/resumable-options.ts';
import { toTaskSettings, type TaskOptions, type TaskSettings } from '../dialects/tasks/options.ts';
import type { SagaGuard } from '../guard/guard.ts';
import { assertHostOptions } from './check-options.ts';
import { consoleLog } from './default-log.ts';
import { duration, wholeDuration } from './durations.ts';
import { environmentOf } from './environment.ts';
import { toInstantRefusals, type InstantRefusalOptions } from './instant-refusals.ts';
import type { HandleOptions } from './handles.ts';
import { hostKeys } from './host-keys.ts';
import { guardedHooks, quietly, rejectionReporter, type HostHooks } from './hooks.ts';
import { defaultLadder, type Ladder } from './ladder.ts';
import { resolveHostLimits, type HostLimits } from './limits.ts';
import { Registry } from './registry.ts';
import { sleep } from './sleep.ts';
import type { SagaTelemetry } from './telemetry.ts';

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

/** The options of a host, completed. */
export interface HostSettings {
  readonly registry: Registry;
  readonly sealer: Sealer;
  /** Seals responses for the guard: they hold a token or a result, and no client ever carries one. */
  readonly responses: Sealer;
  readonly principal: PrincipalOption | undefined;
  readonly authorize: NonNullable<SagaHostOptions['authorize']>;
  readonly admit: NonNullable<SagaHostOptions['admit']>;
  readonly guard: SagaGuard | undefined;
  readonly whenGuardIsDown: 'closed' | 'open';
  readonly leaseMs: number;
  readonly sampling: Sampling | undefined;
  readonly modelAnswers: 'accept' | 'refuse';
  readonly ladder: Required<Ladder>;
  readonly clientRounds: number;
  readonly instantRefusals: Required<InstantRefusalOptions>;
  /** How tasks are offered; undefined where they are not. */
  readonly tasks: TaskSettings | undefined;
  readonly resumableRequests: ResumableRequestOptions;
  readonly handles: HandleOptions | undefined;
  readonly compensators: ReadonlyMap<string, Pick<Compensator<Schema>, 'run'>>;
  /** Whether there is somebody to tell of suspended sagas: their cancel tokens cost a seal. */
  readonly notifiesSuspended: boolean;
  readonly tokenTtl: number;
  readonly maxLifetime: number;
  readonly turnBudget: number;
  readonly maxHold: number;
  readonly rejectIssuedBefore: number | undefined;
  readonly limits: HostLimits;
  readonly hooks: Required<HostHooks>;
  readonly telemetry: SagaTelemetry | undefined;
  readonly clock: () => number;
  readonly sleep: NonNullable<SagaHostOptions['sleep']>;
  /** Whether advice is given that costs time to find. */
  readonly advises: boolean;
  /** Whether who reads the log is who writes the client. */
  readonly develops: boolean;
  readonly warn: (message: string) => void;
  readonly reject: (reason: string) => void;
}

const responseLimits = { maxTokenBytes: 64 * 1024 * 1024, maxInflatedBytes: 64 * 1024 * 1024 };

/** Checks the options of a host and completes them. Throws a `TypeError` or `RangeError` that says what to do. */
export function toHostSettings(options: SagaHostOptions): HostSettings {
  assertHostOptions(options);
  const { audience, clock: now = Date.now, telemetry } = options;
  // Times are whole milliseconds in a token; performance.now() gives fractions.
  const clock = (): number => Math.floor(now());
  const environment = 'environment' in options ? options.environment : environmentOf('NODE_ENV');
  const advises = environment !== 'production';
  const develops = environment === 'development';
  const log = consoleLog({ development: develops, advises, clock });
  const hookTimeoutMs = duration('hookTimeoutMs', options.hookTimeoutMs ?? 10_000);
  const hooks = guardedHooks(options.hooks ?? {}, log, hookTimeoutMs);
  const warn = hooks.onWarning;
  const ring = hostKeys(options, { ...(environment === undefined ? {} : { environment }), warn });
  const limits = resolveHostLimits(options.limits);
  const implementation = options.sealing ?? 'auto';
  const turnBudget = duration('turnBudget', options.turnBudget ?? 25_000);
  const leaseMs = wholeDuration('guardLease', options.guardLease ?? 60_000);
  const registry = guardedRegistry(options);
  if (options.guard !== undefined && leaseMs < turnBudget) {
    warn(
      `guardLease (${leaseMs} ms) is shorter than turnBudget (${turnBudget} ms): a repeated request would run its ` +
        'steps beside one that still runs. Make guardLease the longer one.',
    );
  }
  if (
    develops &&
    options.hooks?.onSuspended !== undefined &&
    registry.all.every(({ forks }) => forks !== 'refuse')
  ) {
    warn("hooks.onSuspended is never called: no saga of this host declares forks: 'refuse'.");
  }
  return {
    registry,
    sealer: createSealer({ ring, audience, limits, clock, implementation }),
    responses: createSealer({ ring, audience, limits: responseLimits, clock, implementation }),
    principal: options.principal,
    authorize: options.authorize ?? (() => true),
    admit: options.admit ?? (() => true),
    guard: options.guard,
    whenGuardIsDown: options.whenGuardIsDown ?? 'closed',
    leaseMs,
    sampling: options.sampling,
    modelAnswers: options.modelAnswers ?? 'refuse',
    ladder: { ...defaultLadder, ...options.ladder },
    clientRounds: rounds(options.clientRounds ?? 9),
    instantRefusals: toInstantRefusals(options.instantRefusals),
    tasks: toTaskSettings(options, warn),
    resumableRequests: options.resumableRequests ?? {},
    handles: options.handles,
    compensators: new Map(options.compensators?.map((compensator) => [compensator.name, compensator])),
    notifiesSuspended: options.hooks?.onSuspended !== undefined,
    tokenTtl: wholeDuration('tokenTtl', options.tokenTtl ?? 60 * 60 * 1000),
    maxLifetime: wholeDuration('maxLifetime', options.maxLifetime ?? 7 * 24 * 60 * 60 * 1000),
    turnBudget,
    maxHold: options.maxHold === 0 ? 0 : duration('maxHold', options.maxHold ?? 20_000),
    rejectIssuedBefore: options.rejectIssuedBefore,
    limits,
    hooks,
    telemetry,
    clock,
    sleep: options.sleep ?? sleep,
    advises,
    develops,
    warn,
    reject: rejectionReporter((rejection) => {
      hooks.onReject(rejection);
      if (telemetry !== undefined) quietly(() => telemetry.refused(rejection), hooks.onError);
    }, clock),
  };
}

function guardedRegistry({ sagas, guard }: SagaHostOptions): Registry {
  const registry = new Registry(sagas);
  for (const saga of registry.all) {
    if (saga.forks === 'refuse' && guard === undefined) {
      throw new TypeError(
        `Saga '${saga.name}' declares forks: 'refuse', which needs a guard: give the host guard: memoryGuard() for one ` +
          "process, or a shared one for many; or declare forks: 'accept' where going back does no harm.",
      );
    }
  }
  return registry;
}

function rounds(count: number): number {
  if (!Number.isSafeInteger(count) || count < 1)
    throw new RangeError('clientRounds must be a whole number from 1.');
  return count;
}
