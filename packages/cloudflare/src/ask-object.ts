import type { Duration } from '@mcp-saga/core';
import {
  durationOption,
  optionError,
  rejectUnknownOption,
  type NamesOf,
} from '@mcp-saga/core/shared';
import type { ObjectMethods, ObjectReply } from './saga-object.ts';

/** Required methods of a binding to Durable Objects, such as `env.SAGAS`. */
export interface DurableObjectNamespaceLike {
  idFromName(name: string): unknown;
  get(id: never): {
    fetch(
      url: string,
      init: { readonly method: string; readonly body: string; readonly signal: AbortSignal },
    ): PromiseLike<{ json(): Promise<unknown> }>;
  };
}

/** Options of {@link durableObjectStore} and {@link alarmQueue}. */
export interface DurableObjectOptions {
  /**
   * Maximum time to wait for a reply of an object.
   * @default '5s'
   */
  readonly timeout?: Duration;
}

const optionNames: NamesOf<DurableObjectOptions> = { timeout: true };

/** Attempts of a call, if Cloudflare says that the call may be repeated. */
const maxAttempts = 3;

/**
 * Calls a method of an object. A call that is repeated without its reply counts once, except that
 * bytes may be counted twice until they expire.
 */
export type AskObject = <Name extends keyof ObjectMethods>(
  object: string,
  method: Name,
  ...args: Parameters<ObjectMethods[Name]>
) => Promise<ReturnType<ObjectMethods[Name]>>;

/**
 * Checks the options of a store, and returns the function that calls its objects.
 * @param maker - name of the calling function, for errors
 * @throws TypeError or RangeError if the binding or an option is invalid
 */
export function objectsOf(
  maker: string,
  namespace: DurableObjectNamespaceLike,
  options: DurableObjectOptions,
): AskObject {
  rejectUnknownOption(maker, options, optionNames);
  const timeoutMs = durationOption('timeout', options.timeout ?? 5_000);
  const { idFromName, get } = Object(namespace) as { readonly [name: string]: unknown };
  if (typeof idFromName !== 'function' || typeof get !== 'function') {
    throw optionError(
      `${maker}: expected a binding to Durable Objects, like \`env.SAGAS\`. Add the binding to wrangler.jsonc.`,
    );
  }
  return async (object, method, ...args) => {
    const body = JSON.stringify({ method, args });
    for (let attempt = 1; ; attempt += 1) {
      try {
        // A stub is broken after an error.
        const stub = namespace.get(namespace.idFromName(object) as never);
        const init = { method: 'POST', body, signal: AbortSignal.timeout(timeoutMs) };
        const response = await stub.fetch('https://saga.invalid/', init);
        return resultOf(await response.json()) as never;
      } catch (error) {
        const { retryable, overloaded } = Object(error) as { readonly [name: string]: unknown };
        if (attempt === maxAttempts || retryable !== true || overloaded === true) throw error;
      }
    }
  };
}

/** Error that an object replied: what it was asked for has not happened. */
export class ObjectRefusal extends Error {}

/** @throws ObjectRefusal if the object reported an error */
function resultOf(reply: unknown): unknown {
  const { result, error } = reply as ObjectReply;
  if (error !== undefined) throw new ObjectRefusal(error);
  return result;
}
