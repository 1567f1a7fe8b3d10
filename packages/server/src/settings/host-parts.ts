import { present } from '@mcp-saga/core/program';
import { type Sealer, createSealer } from '@mcp-saga/seal';
import type { Compensator, Schema } from '@mcp-saga/core';
import type {
  AuthOptions,
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
import type { SagaGuard } from '../model/guard.ts';
import { type TaskSettings, toTaskSettings } from './task-settings.ts';
import type { HostHooks } from '../model/hooks.ts';
import type { SagaTelemetry } from '../model/telemetry.ts';
import { sleep } from './clock.ts';
import { assertHostOptions } from './check-options.ts';
import { environmentOf, hostKeys } from './host-keys.ts';
import { consoleLog } from './default-log.ts';
import { wholeDuration } from './durations.ts';
import { guardedHooks, rejectionReporter, quietly } from './guarded-hooks.ts';
import { resolveHostLimits } from './limits.ts';

/**
 * Completes the options for instant refusals.
 *
 * @throws RangeError if `withinMs` is not a number of milliseconds from 0
 */
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

/** The options of a host, completed. */
export interface HostSettings {
  readonly registry: Registry;
  readonly sealer: Sealer;
  /** Seals responses for the guard: they hold a token or a result, and no client ever carries one. */
  readonly responses: Sealer;
  readonly principal: PrincipalOption | undefined;
  readonly authorize: NonNullable<AuthOptions['authorize']>;
  readonly rateLimit: NonNullable<AuthOptions['rateLimit']>;
  readonly guard: SagaGuard | undefined;
  readonly whenGuardIsDown: 'closed' | 'open';
  readonly leaseMs: number;
  readonly sampling: Sampling | undefined;
  readonly modelAnswers: 'accept' | 'refuse';
  readonly ladder: Required<AnswerOrder>;
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
  readonly sleep: NonNullable<TestingOptions['sleep']>;
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
  const { audience, auth = {}, guard, answers = {}, telemetry, testing = {} } = options;
  const { clock: now = Date.now } = testing;
  // Times are whole milliseconds in a token; performance.now() gives fractions.
  const clock = (): number => Math.floor(now());
  const environment = 'environment' in testing ? testing.environment : environmentOf('NODE_ENV');
  const advises = environment !== 'production';
  const develops = environment === 'development';
  const log = consoleLog({ development: develops, advises, clock });
  const limits = resolveHostLimits(options.limits);
  const { tokenTtlMs, maxLifetimeMs, turnBudgetMs, maxHoldMs, hookTimeoutMs, clientRounds } = limits;
  const hooks = guardedHooks(options.hooks ?? {}, log, hookTimeoutMs);
  const warn = hooks.onWarning;
  const ring = hostKeys(options, { ...present({ environment }), warn });
  const implementation = testing.sealing ?? 'auto';
  const leaseMs = wholeDuration('guard.leaseMs', guard?.leaseMs ?? 60_000);
  const registry = guardedRegistry(options);
  if (guard?.store.remembersSince?.(clock()) !== undefined && !develops && environment !== 'test') {
    warn(
      'The guard forgets at a restart which tokens were used, so tokens from before a restart are refused. Share a guard such as ' +
        "redisGuard(), or set memoryGuard({ olderTokens: 'accept' }): each older token can then be used again.",
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
  return {
    registry,
    sealer: createSealer({ ring, audience, limits, clock, implementation }),
    responses: createSealer({ ring, audience, limits: responseLimits, clock, implementation }),
    principal: auth.principal,
    authorize: auth.authorize ?? (() => true),
    rateLimit: auth.rateLimit ?? (() => true),
    guard: guard?.store,
    whenGuardIsDown: guard?.onDown ?? 'closed',
    leaseMs,
    sampling: answers.sampling,
    modelAnswers: answers.model ?? 'refuse',
    ladder: { ...defaultAnswerOrder, ...answers.order },
    clientRounds,
    instantRefusals: toInstantRefusals(answers.instantRefusals),
    tasks: toTaskSettings(options, warn),
    resumableRequests: options.resumableRequests ?? {},
    handles: options.handles,
    compensators: new Map(options.compensators?.map((compensator) => [compensator.name, compensator])),
    notifiesSuspended: options.hooks?.onSuspended !== undefined,
    tokenTtl: tokenTtlMs,
    maxLifetime: maxLifetimeMs,
    turnBudget: turnBudgetMs,
    maxHold: maxHoldMs,
    rejectIssuedBefore: auth.rejectIssuedBefore,
    limits,
    hooks,
    telemetry,
    clock,
    sleep: testing.sleep ?? sleep,
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
        `Saga '${saga.name}' declares forks: 'refuse', which needs a guard: give the host guard: { store: memoryGuard() } for one ` +
          "process, or a shared one for many; or declare forks: 'accept' where going back does no harm.",
      );
    }
  }
  return registry;
}
