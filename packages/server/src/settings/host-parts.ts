import { present } from '@mcp-saga/core/program';
import {
  type Sealer,
  createSealer,
  createKeyRing,
  SealError,
  type KeyRing,
  type KeyRingOptions,
} from '@mcp-saga/seal';
import type {
  AuthOptions,
  GuardOptions,
  InstantRefusalOptions,
  TestingOptions,
  AnswerOrder,
  SagaHostOptions,
  Sampling,
  ResumableRequestOptions,
  HandleOptions,
} from '../model/host-options.ts';
import type { HostLimits } from '../model/host-limits.ts';
import { Registry } from './registry.ts';
import type { PrincipalOption } from '../model/caller.ts';
import { type TaskSettings, toTaskSettings } from './task-settings.ts';
import type { HostHooks } from '../model/hooks.ts';
import type { SagaTelemetry } from '../model/telemetry.ts';
import { sleep } from './clock.ts';
import { assertHostOptions } from './check-options.ts';
import { consoleLog } from './default-log.ts';
import { wholeDuration, resolveHostLimits } from './limits.ts';
import { guardedHooks, rejectionReporter, quietly } from './guarded-hooks.ts';

/** Completes the options for instant refusals. Throws RangeError for an invalid `withinMs`. */
function toInstantRefusals({
  withinMs = 1_000,
  treatAs = 'refused',
}: InstantRefusalOptions = {}): Required<InstantRefusalOptions> {
  if (typeof withinMs !== 'number' || !(withinMs >= 0))
    throw new RangeError('answers.instantRefusals.withinMs must be a number of milliseconds from 0.');
  return { withinMs, treatAs };
}

/** The ladder of a host that declares none. */
const defaultAnswerOrder: Required<AnswerOrder> = {
  elicitation: ['client', 'model', 'fallback'],
  sampling: ['client', 'host', 'model'],
};

/** The sealers of a host. */
export interface Keys {
  readonly sealer: Sealer;
  /** Seals records for the guard: they hold a token or a result, and no client ever carries them. */
  readonly responses: Sealer;
}

/** The checks of a caller, before any turn runs. */
export interface Gate {
  readonly principal: PrincipalOption | undefined;
  readonly authorize: NonNullable<AuthOptions['authorize']>;
  readonly rateLimit: NonNullable<AuthOptions['rateLimit']>;
  readonly rejectIssuedBefore: number | undefined;
}

/** The guard, and the treatment of requests while it is down. */
export type GuardAccess = Required<Pick<GuardOptions, 'store' | 'onDown'>>;

/** Clock, sleep, and the time after which another process takes over. */
export interface Timing {
  /** Returns whole milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: NonNullable<TestingOptions['sleep']>;
  readonly leaseMs: number;
}

/** Reports to the operator. */
export interface Observer {
  readonly hooks: Required<HostHooks>;
  readonly telemetry: SagaTelemetry | undefined;
  /** Reports a rejected token. */
  readonly reject: (reason: string) => void;
  /** `true` if the operator listens for suspended sagas: their cancel tokens cost a seal. */
  readonly notifiesSuspended: boolean;
  /** Enables advice that takes time to find. */
  readonly advises: boolean;
  /** `true` if the reader of the log is also the author of the client. */
  readonly develops: boolean;
}

/** Answers that do not come from the user of the client. */
export interface Answers {
  readonly sampling: Sampling | undefined;
  readonly model: 'accept' | 'refuse';
  readonly order: Required<AnswerOrder>;
  readonly instantRefusals: Required<InstantRefusalOptions>;
}

/** Dialects that a host offers by its options. */
export interface Offers {
  /** Undefined: no tasks. */
  readonly tasks: TaskSettings | undefined;
  readonly resumableRequests: ResumableRequestOptions;
  readonly handles: HandleOptions | undefined;
}

/** The parts of a host, made of its options. A function takes the parts that it uses. */
export interface HostParts {
  readonly registry: Registry;
  readonly keys: Keys;
  readonly gate: Gate;
  /** Undefined: older tokens can be used again. */
  readonly guard: GuardAccess | undefined;
  readonly timing: Timing;
  readonly limits: HostLimits;
  readonly observer: Observer;
  readonly answers: Answers;
  readonly offers: Offers;
}

const responseLimits = { maxTokenBytes: 64 * 1024 * 1024, maxInflatedBytes: 64 * 1024 * 1024 };

/** Checks the options of a host and completes them. Throws a `TypeError` or `RangeError` that says what to do. */
export function toHostParts(options: SagaHostOptions): HostParts {
  assertHostOptions(options);
  const { audience, auth = {}, guard, answers = {}, telemetry, testing = {} } = options;
  const { clock: now = Date.now } = testing;
  // Times are whole milliseconds in a token; performance.now() gives fractions.
  const clock = (): number => Math.floor(now());
  const environment = 'environment' in testing ? testing.environment : environmentOf('NODE_ENV');
  const advises = environment !== 'production';
  const develops = environment === 'development';
  const log = consoleLog({ development: develops, advises, clock });
  const limits = resolveHostLimits(options.limits);
  const { turnBudgetMs } = limits;
  const hooks = guardedHooks(options.hooks ?? {}, log, limits.hookTimeoutMs);
  const warn = hooks.onWarning;
  const ring = hostKeys(options, { ...present({ environment }), warn });
  const implementation = testing.sealing ?? 'auto';
  const leaseMs = wholeDuration('guard.leaseMs', guard?.leaseMs ?? 60_000);
  const registry = guardedRegistry(options);
  if (guard?.store.remembersSince?.(clock()) !== undefined && !develops && environment !== 'test') {
    warn(
      "After a restart, the guard refuses older tokens: share a guard, or set memoryGuard({ olderTokens: 'accept' }).",
    );
  }
  if (guard !== undefined && leaseMs < turnBudgetMs) {
    warn(
      `guard.leaseMs (${leaseMs}) is less than limits.turnBudgetMs (${turnBudgetMs}): a repeated request would run its ` +
        'steps beside a request that still runs. Raise guard.leaseMs.',
    );
  }
  if (
    develops &&
    options.hooks?.onSuspended !== undefined &&
    registry.all.every(({ forks }) => forks !== 'refuse')
  ) {
    warn("hooks.onSuspended is never called: no saga of this host declares forks: 'refuse'.");
  }
  const { resumableRequests = {}, handles } = options;
  return {
    registry,
    keys: {
      sealer: createSealer({ ring, audience, limits, clock, implementation }),
      responses: createSealer({ ring, audience, limits: responseLimits, clock, implementation }),
    },
    gate: {
      principal: auth.principal,
      authorize: auth.authorize ?? (() => true),
      rateLimit: auth.rateLimit ?? (() => true),
      rejectIssuedBefore: auth.rejectIssuedBefore,
    },
    guard: guard && { store: guard.store, onDown: guard.onDown ?? 'closed' },
    timing: { clock, sleep: testing.sleep ?? sleep, leaseMs },
    limits,
    observer: {
      hooks,
      telemetry,
      reject: rejectionReporter((rejection) => {
        hooks.onReject(rejection);
        if (telemetry !== undefined) quietly(() => telemetry.refused(rejection), hooks.onError);
      }, clock),
      notifiesSuspended: options.hooks?.onSuspended !== undefined,
      advises,
      develops,
    },
    answers: {
      sampling: answers.sampling,
      model: answers.model ?? 'refuse',
      order: { ...defaultAnswerOrder, ...answers.order },
      instantRefusals: toInstantRefusals(answers.instantRefusals),
    },
    offers: { tasks: toTaskSettings(options, warn), resumableRequests, handles },
  };
}

/** Returns a host whose clock stands still, and that reports no steps, gives no advice, and asks no guard. */
export function silentAt(host: HostParts, now: number): HostParts {
  const { observer, timing } = host;
  return {
    ...host,
    timing: { ...timing, clock: () => now },
    observer: { ...observer, hooks: { ...observer.hooks, onStep: () => undefined }, advises: false },
    guard: undefined,
  };
}

function guardedRegistry({ sagas, guard, compensators }: SagaHostOptions): Registry {
  const registry = new Registry(sagas, compensators);
  for (const saga of registry.all) {
    if (saga.forks === 'refuse' && guard === undefined) {
      throw new TypeError(
        `Saga '${saga.name}' declares forks: 'refuse', which needs a guard: give the host guard: { store: memoryGuard() } for one ` +
          "process, or a shared one for many; or declare forks: 'accept' where going back does no harm.",
      );
    }
  }
  return registry;
}

/** Reads the keys of a host, or those of `SAGA_KEYS`. Throws SealError `keys` with the position of a bad key, never a value. */
function hostKeys(options: Pick<SagaHostOptions, 'keys'>, ringOptions: KeyRingOptions): KeyRing {
  const variable = environmentOf('SAGA_KEYS');
  const keys = 'keys' in options ? options.keys : variable;
  try {
    return createKeyRing(keys, ringOptions);
  } catch (error) {
    // Mostly they are handed on, as keys: process.env.SAGA_KEYS.
    if (!(error instanceof SealError) || keys === undefined || keys !== variable) throw error;
    throw new SealError(error.code, `SAGA_KEYS: ${error.message}`, { cause: error });
  }
}

interface ProcessLike {
  readonly env?: { readonly [name: string]: string | undefined };
}

/** An environment variable, where the runtime has such things. */
function environmentOf(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: ProcessLike };
  return process?.env?.[name];
}
