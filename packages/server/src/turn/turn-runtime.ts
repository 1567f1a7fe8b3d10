import { present, type Runtime, type StepEvent } from '@mcp-saga/core/program';
import { deriveFromSecret, digestText, toBase64Url } from '@mcp-saga/seal';
import { askGuard, claimedUntil, isForgotten } from '../guard/ask-guard.ts';
import { endOfLife, roundOf } from '../token/sealed-saga.ts';
import { quietly } from '../settings/guarded-hooks.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { isAccepted, routeOf } from './answer-routes.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { TurnRequest } from './turn-request.ts';
import { thrownIn } from './thrown-errors.ts';
import { checkedResult } from '../wire/saga-result.ts';
import { assertKeepable } from '../token/guard-records.ts';
import { withoutKeys } from '../settings/default-log.ts';
import { longestTimerMs } from '../settings/clock.ts';

// As much of a SHA-256 as a question needs to be told from another: 96 bits.
const digestLength = 16;

/** What one turn of a saga may know and do. */
export function turnRuntime(
  host: HostParts,
  { program, saga, caller, tokenBytes, traits, receivedAt, ...request }: TurnRequest,
  deadline: number | undefined,
  newest: () => SealedSaga = () => saga,
): Runtime {
  const { isInterrupted, isGuarded = false, isOwn = false, isLeft = false } = request;
  const { sagaId, state, claims } = saga;
  const generation = String(state.generation);
  const { guard } = host;
  const watch = slowSteps(host, claims.saga.name);
  const asking = { host, program, caller, traits };
  const { signal = never() } = caller;
  return {
    sagaId,
    turn: claims.turn + 1,
    engine: claims.engine,
    tokenBytes,
    suggestedTokenBytes: host.limits.maxTokenBytes / 4,
    maxHold: traits.maxHold ?? host.limits.maxHoldMs,
    holdsParts: traits.holdsParts ?? false,
    // A queue has as many cancel tokens as it takes.
    ...(isLeft ? {} : { lifeEndsAt: endOfLife(host.limits, claims) }),
    maxWait: traits.maxWait?.(roundOf(saga, isOwn)) ?? Number.POSITIVE_INFINITY,
    commitsEach: traits.checkpointAfterStep === true || (isGuarded && program.commitEach === true),
    defersEffects: traits.defersEffects ?? false,
    route: (question) => routeOf(asking, question),
    accepts: (provenance, question) => isAccepted(asking, provenance, question),
    sample: (params, step) => {
      if (host.answers.sampling === undefined) throw new TypeError('This host has no sampling of its own.');
      return host.answers.sampling(params, step);
    },
    claim:
      guard === undefined
        ? undefined
        : (key) =>
            !isForgotten(host, claims.born) &&
            askGuard(host.observer, () =>
              guard.store.claim(`${sagaId}:${key}`, claimedUntil(host, newest().claims)),
            ),
    compensator: (name) => host.registry.compensator(name),
    capabilities: caller.capabilities,
    context: caller.context,
    ...(traits.endsOnAbort === true && program.forks !== undefined
      ? { signal: never(), stops: signal }
      : { signal }),
    now: host.timing.clock,
    ...present({ receivedAt }),
    ...(isInterrupted === true ? { isInterrupted } : {}),
    random: Math.random,
    sleep: host.timing.sleep,
    deadline,
    idempotencyKey: async (path, key, direction) => {
      // A key of its own is told from none: an empty part stands for "no key", and keys are never empty.
      const parts = [generation, path, key ?? '', direction];
      return toBase64Url(await deriveFromSecret(state.secret, 'idempotency', parts));
    },
    checkResult: async (returned) => {
      const result = await checkedResult(program, returned);
      if (isGuarded) assertKeepable('its result has', result);
      return result;
    },
    randomBytes: (path) => deriveFromSecret(state.secret, 'random', [generation, path]),
    digest: async (text) => (await digestText(text)).slice(0, digestLength),
    // A caller that cannot be told does not fail the saga.
    progress: (progress) => quietly(() => caller.progress?.(progress), host.observer.hooks.onError),
    log: (level, data) => quietly(() => caller.log?.(level, data), host.observer.hooks.onError),
    threw: (path, error) => thrownIn(sagaId, caller).note(path, error),
    observe: (event) => {
      watch(event);
      host.observer.hooks.onStep({ ...event, saga: claims.saga.name, sagaId });
    },
    warn: (message, kind) => {
      if (host.observer.advises || kind === 'mistake') host.observer.hooks.onWarning(message);
    },
    isStrict: host.observer.advises,
    limits: host.limits,
  };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

/** Observer that warns of a step over `limits.turnBudgetMs`, once a turn. The budget ends turns only between two steps. */
function slowSteps(
  { limits: { turnBudgetMs }, observer }: Pick<HostParts, 'limits' | 'observer'>,
  saga: string,
): (event: StepEvent) => void {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const told = new Set<string>();
  const tell = (path: string): void => {
    told.add(path);
    observer.hooks.onWarning(
      `Step '${withoutKeys(path)}' of saga '${saga}' is still running after ${turnBudgetMs} ms (limits.turnBudgetMs). ` +
        'Set `timeoutMs`, or obey its `signal`.',
    );
  };
  return ({ kind, type, path }) => {
    if (kind !== 'step' || told.has(path)) return;
    clearTimeout(timers.get(path));
    if (type === 'started') {
      timers.set(
        path,
        setTimeout(() => tell(path), Math.min(turnBudgetMs, longestTimerMs)),
      );
    } else timers.delete(path);
  };
}
