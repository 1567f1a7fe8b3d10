import { createKeyRing, SealError, type KeyRing, type KeyRingOptions } from '@mcp-saga/seal';
import { environmentOf } from './environment.ts';
import type { SagaHostOptions } from './host-options.ts';

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
