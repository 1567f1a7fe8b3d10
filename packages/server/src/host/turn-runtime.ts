import type { Program, Runtime } from '@mcp-saga/core';
import { deriveFromSecret, digestText, toBase64Url } from '@mcp-saga/seal';
import type { Caller } from './caller.ts';
import { quietly } from './hooks.ts';
import type { HostSettings } from './host-options.ts';
import type { SealedSaga } from './sealed-saga.ts';
import { sleep } from './sleep.ts';

// As much of a SHA-256 as a question needs to be told from another: 96 bits.
const digestLength = 16;

/** What one turn of a saga may know and do. */
export function turnRuntime(
  settings: HostSettings,
  program: Program,
  saga: SealedSaga,
  caller: Caller,
  tokenBytes: number,
): Runtime {
  const { sagaId, state, claims } = saga;
  const generation = String(state.generation);
  return {
    sagaId,
    engine: claims.engine,
    tokenBytes,
    capabilities: caller.capabilities,
    context: caller.context,
    signal: caller.signal ?? new AbortController().signal,
    now: settings.clock,
    random: Math.random,
    sleep,
    deadline: settings.clock() + settings.turnBudget,
    idempotencyKey: async (path, key, direction) => {
      // A key of its own is told from none: an empty part stands for "no key", and keys are never empty.
      const parts = [generation, path, key ?? '', direction];
      return toBase64Url(await deriveFromSecret(state.secret, 'idempotency', parts));
    },
    randomBytes: (path) => deriveFromSecret(state.secret, 'random', [generation, path]),
    digest: async (text) => (await digestText(text)).slice(0, digestLength),
    // A caller that cannot be told does not fail the saga.
    progress: (progress) => quietly(() => caller.progress?.(progress), settings.hooks.onError),
    log: (level, data) => quietly(() => caller.log?.(level, data), settings.hooks.onError),
    observe: (event) => settings.hooks.onStep({ ...event, saga: program.name, sagaId }),
    warn: settings.development ? settings.warn : undefined,
    limits: settings.limits,
  };
}
