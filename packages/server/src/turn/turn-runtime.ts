import type { Awaitable, Services } from '@mcp-saga/core';
import { present, type Runtime, type StepEvent, withoutKeys } from '@mcp-saga/core/program';
import { deriveFromSecret, digestText, toBase64Url } from '@mcp-saga/seal';
import { runtimeOutside } from '../outside/tickets/runtime-outside.ts';
import { askGuard, claimedUntil, isForgotten } from '../guard/ask-guard.ts';
import { abandonedAt, endOfLife, roundOf } from '../token/sealed-saga.ts';
import { roomMeter } from '../token/token-room.ts';
import { quietly } from '../settings/observer-hooks.ts';
import { type HostParts, mayHaveUndos } from '../settings/host-parts.ts';
import { isAccepted, routeOf } from './answer-routes.ts';
import { commitsEachStep } from '../model/holder.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { TurnRequest } from './turn-request.ts';
import { thrownIn } from './thrown-errors.ts';
import { checkedResult } from '../wire/saga-result.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import { elicitationIdOf } from '../wire/step-requests.ts';
import { assertKeepable } from '../token/guard-records.ts';
import { longestTimerMs, neverAborted } from '../settings/clock.ts';

// Characters of the digest of a question: 96 bits.
const digestLength = 16;

/** A turn with what it runs in. */
export interface RuntimeRequest extends TurnRequest {
  readonly services: Services;
  /** `true` if a guard keeps the turn, or may keep it after a commit. @default false */
  readonly mayKeep?: boolean;
  /** See `RuntimeTurn`. Default: what must not be lost runs at once. */
  readonly defersVital?: 'vital' | 'untold' | undefined;
}

/** Makes the runtime of a turn. */
export function turnRuntime(
  host: HostParts,
  request: RuntimeRequest,
  deadline: number | undefined,
  newest: () => SealedSaga = () => request.saga,
): Runtime {
  const { program, saga, intent, caller, services, dialect, holder, before } = request;
  const { mayKeep = false, defersVital } = request;
  const { sagaId, state, claims } = saga;
  const generation = String(state.generation);
  const { guard } = host;
  const { outside } = host.offers;
  const watch = slowSteps(host, claims.saga.name);
  const asking = { host, program, caller, dialect };
  const { signal = neverAborted() } = caller;
  return {
    saga: {
      id: sagaId,
      generation: state.generation,
      ...present({ lifeEndsAt: lifeEndOf(host, request) }),
      room: roomMeter(host, newest),
      checkResult: async (returned) => {
        const result = await checkedResult(program, returned);
        if (mayKeep) assertKeepable('its result has', result);
        return result;
      },
    },
    turn: {
      number: claims.turn + 1,
      tokenBytes: saga.tokenBytes,
      deadline,
      ...present({ receivedAt: intent.receivedAt }),
      ...(before === undefined ? {} : { isInterrupted: true }),
      ...present({ defersEffects: dialect.effects === 'later' ? ('all' as const) : defersVital }),
      commitsEach:
        // The engine knows by this what an interrupted run can have begun.
        (before?.of === 'same request' ? before.committedEachStep : commitsEachStep(holder)) ||
        ((mayKeep || defersVital !== undefined) &&
          intent.kind === 'answer' &&
          program.commitEach === true),
    },
    request: {
      capabilities: caller.capabilities,
      user: caller.user,
      ...(dialect.endsOnAbort === true && mayHaveUndos(host, program)
        ? { signal: neverAborted(), stops: signal }
        : { signal }),
    },
    time: {
      now: host.timing.clock,
      sleep: host.timing.sleep,
      random: Math.random,
      maxHold: dialect.maxHold ?? host.limits.maxHold,
      holdsParts: dialect.holdsParts ?? false,
      maxWait: dialect.maxWait?.(roundOf(saga, holder)) ?? Number.POSITIVE_INFINITY,
    },
    questions: {
      route: (question) => routeOf(asking, question),
      accepts: (provenance, question) => isAccepted(asking, provenance, question),
      sample: (params, step) => {
        if (host.answerers.sampling === undefined)
          throw new TypeError('The option answerers.sampling is not set.');
        return host.answerers.sampling(params, step);
      },
      digest: async (text) => (await digestText(text)).slice(0, digestLength),
    },
    effects: {
      services,
      claim:
        guard === undefined
          ? undefined
          : (key) =>
              !isForgotten(host, claims.born) &&
              askGuard(host.observer, () =>
                guard.turns.claim(
                  `${sagaId}:${key}`,
                  claimedUntil(host, newest().claims),
                  host.timing.clock(),
                ),
              ),
      stepRetry: host.stepRetry,
      outside: outside && runtimeOutside(host, outside, saga),
      compensator: (name) => host.registry.compensator(name),
      // A key of its own is told from none: an empty part stands for "no key", and keys are never
      // empty.
      idempotencyKey: (path, key, direction) =>
        idempotencyKey(state.secret, [generation, path, key ?? '', direction]),
      randomBytes: (path) => deriveFromSecret(state.secret, 'random', [generation, path]),
    },
    observer: {
      // A caller that cannot be told does not fail the saga.
      notify: (sent) =>
        quietly(() => {
          if (sent.kind === 'log') return caller.log?.(sent.level, sent.data);
          if (sent.kind === 'completeUrl') {
            const stepId = stepIdsOf(state.generation).toWire(sent.id);
            return caller.completeUrl?.(elicitationIdOf(sagaId, stepId));
          }
          const { value, total, message } = sent;
          return caller.progress?.({ value, ...present({ total, message }) });
        }, host.observer.hooks.onError),
      threw: (path, error) => thrownIn(sagaId, caller).note(path, error),
      schemaFailed: host.observer.hooks.onError,
      observe: host.observer.observesSteps
        ? (event) => {
            watch(event);
            host.observer.hooks.onStep({ ...event, saga: claims.saga.name, sagaId });
          }
        : watch,
      warn: (message, kind) => {
        const { advises, develops } = host.observer;
        const isReported =
          kind === undefined
            ? advises
            : (kind === 'mistake' || develops) && host.registry.isNew(message);
        if (isReported) host.observer.hooks.onWarning(message);
      },
      isStrict: host.observer.advises,
    },
    limits: { suggestedTokenBytes: host.limits.maxTokenBytes / 4, ...host.limits },
  };
}

/**
 * End of the lifetime of a saga, after which a wait would have no token (ms since the epoch).
 * Undefined for an abandoned saga, which gets as many messages as it takes: it may have passed its
 * pivot, or pass it in this turn, and a wait that failed behind it would leave the saga half done.
 */
function lifeEndOf(
  { limits, timing }: HostParts,
  { holder, saga: { claims } }: RuntimeRequest,
): number | undefined {
  const end = endOfLife(limits, claims);
  // The token of a saga that goes on without its client lives until its next message.
  const isAbandoned = timing.clock() >= abandonedAt(claims) || claims.exp > end;
  const goesOn = holder.kind === 'nobody' || (holder.kind === 'queue' && isAbandoned);
  return goesOn ? undefined : end;
}

/** `true` once a key was derived without a promise: then a key is derived when a step reads it. */
let derivesAtOnce = false;

function idempotencyKey(
  secret: Uint8Array,
  parts: readonly string[],
): Awaitable<string | (() => string)> {
  const derive = (): Awaitable<string> => {
    const key = deriveFromSecret(secret, 'idempotency', parts);
    return key instanceof Promise ? key.then(toBase64Url) : toBase64Url(key);
  };
  if (derivesAtOnce) return derive as () => string;
  const key = derive();
  derivesAtOnce = typeof key === 'string';
  return key;
}

/**
 * Observer that warns of a step over `limits.turnBudget`, once a turn. The budget ends turns only
 * between two steps.
 */
function slowSteps(
  { limits: { turnBudget }, observer }: Pick<HostParts, 'limits' | 'observer'>,
  saga: string,
): (event: StepEvent) => void {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const reported = new Set<string>();
  const report = (path: string): void => {
    reported.add(path);
    observer.hooks.onWarning(
      `Step '${withoutKeys(path)}' of saga '${saga}' is still running after ${turnBudget} ms (limits.turnBudget). ` +
        'Set `timeout`, or obey its `signal`.',
    );
  };
  return ({ kind, type, path }) => {
    if (kind !== 'step' || reported.has(path)) return;
    clearTimeout(timers.get(path));
    if (type === 'started') {
      timers.set(
        path,
        setTimeout(() => report(path), Math.min(turnBudget, longestTimerMs)),
      );
    } else timers.delete(path);
  };
}
