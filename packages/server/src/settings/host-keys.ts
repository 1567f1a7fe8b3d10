import { createKeyRing, SealError, type KeyRing, type KeyRingOptions } from '@mcp-saga/seal';
import type { SagaHostOptions } from '../model/host-options.ts';

/**
 * The keys of a host: those it is given, or else those of `SAGA_KEYS`.
 *
 * @throws SealError with code `keys` that names the position of a bad key and, where the keys are those of `SAGA_KEYS`,
 * the variable; never a value
 */
export function hostKeys(options: Pick<SagaHostOptions, 'keys'>, ringOptions: KeyRingOptions): KeyRing {
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
export function environmentOf(name: string): string | undefined {
  const { process } = globalThis as { readonly process?: ProcessLike };
  return process?.env?.[name];
}
