/**
 * The parts of a host, made once of its options. `check-options.ts` and `known-options.ts` refuse
 * what is unknown or of the wrong type, by the name of the option; the other files complete one
 * group of options each. Every function of the server takes the parts that it uses, and never the
 * options.
 */
import { warningOfNode, type RuntimeProcess } from './node-version.ts';
import { present, troubleshootingLink, type RetryPlan } from '@mcp-saga/core/program';
import { toStepRetry } from './step-retry.ts';
import { optionError } from '@mcp-saga/core/shared';
import type { Awaitable, Program, Services } from '@mcp-saga/core';
import type {
  AnonymousOptions,
  AuthOptions,
  TestingOptions,
  SagaHostOptions,
  Sampling,
  StartOptions,
} from '../model/host-options.ts';
import type { ResolvedLimits } from '../model/host-limits.ts';
import { Registry, servedAs } from './registry.ts';
import type { PrincipalOption } from '../model/caller.ts';
import { type TaskSettings, toTaskSettings } from './task-settings.ts';
import type { HostHooks } from '../model/hooks.ts';
import type { SagaTelemetry } from '../model/telemetry.ts';
import type { SagaGuard } from '../model/guard.ts';
import type { SagaStore } from '../model/saga-store.ts';
import { followClock, isInMemory } from '../store/memory-store.ts';
import { guardOn } from '../store/store-guard.ts';
import { sleep } from './clock.ts';
import { assertHostOptions, howToStore, publicUrl } from './check-options.ts';
import { consoleLog, onceAMinute } from './default-log.ts';
import { resolveHostLimits } from './default-limits.ts';
import { warningsOfUnits } from './unitless-durations.ts';
import { environmentOf } from './host-environment.ts';
import { toKeys, type Keys } from './host-keys.ts';
import { KeyWatch } from './key-watch.ts';
import { guardedHooks, rejectionReporter, quietly } from './observer-hooks.ts';
import { guardedQueue, type QueueAccess } from './host-queue.ts';
import { toPageSettings, type PageSettings } from './page-settings.ts';
import { principalOfUser } from './user-principal.ts';

/** Names of tools that every client and model takes. MCP allows dots and 128 characters. */
const toolName = /^[\w-]{1,64}$/;

/** Checks of a caller before a turn. */
export interface Gate {
  readonly principal: PrincipalOption;
  /** `true` if the host tells callers apart: a request must say who sent it, or that nobody did. */
  readonly requiresCaller: boolean;
  /** What callers without a user may do. */
  readonly anonymous: AnonymousOptions;
  readonly starts: StartOptions;
  readonly keyWatch: KeyWatch;
  readonly authorize: NonNullable<AuthOptions['authorize']>;
  readonly rateLimit: NonNullable<AuthOptions['rateLimit']>;
  readonly rejectIssuedBefore: number | undefined;
}

/** The guard of a host with a store, and the queue, which relies on it. */
export interface GuardAccess {
  readonly turns: SagaGuard;
  /** `true` if the guard keeps its records in this process: they need no encryption. */
  readonly isInMemory: boolean;
  /** Undefined: no saga continues without its client. */
  readonly queue: QueueAccess | undefined;
}

/** Pages, webhooks, and the store of answers from outside. */
export interface OutsideAccess extends Required<Pick<SagaHostOptions, 'webhooks'>> {
  readonly store: SagaStore;
  /**
   * Returns the public URL, without a slash at the end. Throws TypeError if the option `url` returns
   * another value.
   */
  readonly url: () => string;
  readonly page: PageSettings;
  readonly mayAnswer: AuthOptions['mayAnswer'];
}

/** Clock, sleep, and the lease of a turn. */
export interface Timing {
  /** Returns whole milliseconds since the epoch. */
  readonly clock: () => number;
  readonly sleep: NonNullable<TestingOptions['sleep']>;
  readonly leaseMs: number;
  /** `true` with the clock of a test, which the timers of the process do not follow. */
  readonly isSimulated: boolean;
}

/** Reports to the operator. */
export interface Observer {
  readonly hooks: Required<HostHooks>;
  readonly telemetry: SagaTelemetry | undefined;
  /** Reports a rejected token. */
  readonly reject: (reason: string) => void;
  /** `true` if a refusal of this saga was not told of in the last minute. */
  readonly isTimeForRefusal: (saga: string) => boolean;
  /** `true` if `onStep` is set: only then are events of steps made. */
  readonly observesSteps: boolean;
  /** Enables advice that takes time to compute. */
  readonly advises: boolean;
  /** `true` in development, when the reader of the log may see all details. */
  readonly develops: boolean;
  /** `true` in development and in tests, when a restart may forget sagas. */
  readonly isTrial: boolean;
}

/** Sources of answers other than the user at the client. */
export interface Answerers {
  readonly sampling: Sampling | undefined;
  readonly model: 'accept' | undefined;
  readonly instantRefusals: 'refused' | 'unsupported';
}

/** Optional dialects of a host, and answers from outside. */
export interface Offers {
  /** Undefined: no tasks. */
  readonly tasks: TaskSettings | undefined;
  /** Store of the states of handles. Undefined: models copy tokens. */
  readonly handles: SagaStore | undefined;
  /** Undefined: no answers from outside. */
  readonly outside: OutsideAccess | undefined;
}

/** Parts of a host, made from its options. Each function takes the parts it needs. */
export interface HostParts {
  /** Name of this service. */
  readonly audience: string;
  /** Returns the services of the process for this invocation. Throws what their function throws. */
  readonly services: () => Awaitable<Services>;
  readonly registry: Registry;
  readonly keys: Keys;
  readonly gate: Gate;
  /** Undefined: older tokens can be used again. */
  readonly guard: GuardAccess | undefined;
  readonly timing: Timing;
  /** Retries of a step that names none. Undefined: one attempt. */
  readonly stepRetry: RetryPlan | undefined;
  readonly limits: ResolvedLimits;
  readonly observer: Observer;
  readonly answerers: Answerers;
  readonly offers: Offers;
}

/** Checks and completes the options of a host. Throws TypeError or RangeError. */
export function toHostParts(options: SagaHostOptions): Omit<HostParts, 'services'> {
  assertHostOptions(options);
  const {
    name,
    audience = name,
    auth = {},
    store,
    queue,
    answerers = {},
    studio,
    testing = {},
  } = options;
  const telemetry = studio?.telemetry(options.telemetry) ?? options.telemetry;
  const { clock: now = Date.now } = testing;
  // Tokens contain whole milliseconds, but performance.now() returns fractions.
  const clock = (): number => Math.floor(now());
  const environment = 'environment' in testing ? testing.environment : environmentOf('NODE_ENV');
  const advises = environment !== 'production';
  const develops = environment === 'development';
  const isTrial = develops || environment === 'test';
  const log = consoleLog({ development: develops, advises, clock });
  const limits = resolveHostLimits(options.limits);
  const { hooks: own = {} } = options;
  const hooks = guardedHooks(own, log, limits.hookTimeout);
  const warn = hooks.onWarning;
  const ofNode = warningOfNode(Object(Reflect.get(globalThis, 'process')) as RuntimeProcess);
  if (ofNode !== undefined) warn(ofNode);
  if (develops) warningsOfUnits(options).forEach((warning) => warn(warning));
  const keys = toKeys(options, {
    audience,
    limits,
    clock,
    implementation: testing.sealing ?? 'auto',
    ring: { ...present({ environment }), warn },
    onError: hooks.onError,
  });
  const registry = guardedRegistry(options);
  if (store !== undefined) followClock(store, clock);
  if (store?.remembersSince?.(clock()) !== undefined && !isTrial) {
    warn(
      "After a restart, the store refuses older tokens: share a store, or set memoryStore({ olderTokens: 'accept' }).",
    );
  }
  for (const program of advises ? registry.current : []) {
    if (servedAs(program) === 'tool' && !toolName.test(program.name)) {
      warn(
        `The name of saga '${program.name}' is no tool name for many clients and models, which then refuse all tools. Use letters, digits, ` +
          `'_' and '-', at most 64. See ${troubleshootingLink('a-client-refuses-the-tools')}`,
      );
    }
  }
  const unwoken = registry.current
    .filter(({ reuse }) => reuse === 'ok')
    .map((program) => `'${program.name}'`);
  if (queue !== undefined && unwoken.length > 0) {
    warn(
      `The queue does not wake ${unwoken.join(', ')}, because of reuse: 'ok': nobody knows which of the tokens counts.`,
    );
  }
  const { anonymous = {}, shortTokens = true } = options;
  return {
    audience,
    registry,
    keys,
    gate: {
      principal: auth.principal ?? principalOfUser,
      requiresCaller: [auth.principal, auth.authorize, auth.mayAnswer].some(
        (option) => option !== undefined,
      ),
      anonymous,
      starts: options.starts ?? {},
      keyWatch: new KeyWatch(clock),
      authorize: auth.authorize ?? (() => true),
      rateLimit: auth.rateLimit ?? (() => true),
      rejectIssuedBefore: auth.rejectIssuedBefore,
    },
    guard: store && {
      turns: guardOn(store),
      isInMemory: isInMemory(store),
      queue: queue && guardedQueue(queue, limits.hookTimeout, hooks.onError),
    },
    timing: {
      clock,
      sleep: testing.sleep ?? sleep,
      leaseMs: limits.lease,
      isSimulated: testing.clock !== undefined,
    },
    stepRetry: toStepRetry(options),
    limits,
    observer: {
      hooks,
      telemetry,
      reject: rejectionReporter((rejection) => {
        hooks.onReject(rejection);
        quietly(() => telemetry?.refused(rejection), hooks.onError);
      }, clock),
      isTimeForRefusal: onceAMinute(clock),
      observesSteps: own.onStep !== undefined,
      advises,
      develops,
      isTrial,
    },
    answerers: {
      sampling: answerers.sampling,
      model: answerers.model,
      instantRefusals: answerers.instantRefusals ?? 'refused',
    },
    offers: {
      tasks: toTaskSettings(options, warn),
      handles: shortTokens ? store : undefined,
      outside: toOutside(options),
    },
  };
}

function toOutside(options: SagaHostOptions): OutsideAccess | undefined {
  const { name, url: given, store, webhooks = {}, auth } = options;
  if (given === undefined || store === undefined) return undefined;
  const page = toPageSettings(name, options.page);
  const url = (): string => publicUrl(typeof given === 'function' ? given() : given);
  return { url, store, webhooks, page, mayAnswer: auth?.mayAnswer };
}

/** `true` if each token of a saga counts once. A program without code is guarded if possible. */
export function isSingleUse(
  { guard }: Pick<HostParts, 'guard'>,
  program: Pick<Program, 'reuse'> | undefined,
): boolean {
  return guard !== undefined && program?.reuse !== 'ok';
}

/** `true` if the steps of a saga may have undos. Without a store, they need `reuse: 'ok'`. */
export function mayHaveUndos(
  { guard }: Pick<HostParts, 'guard'>,
  { reuse }: Pick<Program, 'reuse'>,
): boolean {
  return guard !== undefined || reuse === 'ok';
}

/** Returns a host with a stopped clock, and without events of steps and advice. */
export function silentAt(host: HostParts, now: number): HostParts {
  const { observer, timing } = host;
  return {
    ...host,
    timing: { ...timing, clock: () => now },
    observer: { ...observer, observesSteps: false, advises: false },
  };
}

function guardedRegistry({ sagas, store, compensators }: SagaHostOptions): Registry {
  const registry = new Registry(sagas, compensators);
  if (store !== undefined) return registry;
  for (const { name, task, needsStore } of registry.all) {
    const why =
      task === 'require'
        ? `only runs as a task, which needs a store. ${howToStore}`
        : needsStore === true
          ? `needs a store. ${howToStore} Or declare reuse: 'ok' if reusing older tokens does no harm.`
          : undefined;
    if (why !== undefined) throw optionError(`Saga '${name}' ${why}`, { code: 'missing_option' });
  }
  return registry;
}
