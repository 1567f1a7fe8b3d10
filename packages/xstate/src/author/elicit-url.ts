import { AuthoringError, assertKnownOptions } from '@mcp-saga/core/program';
import type { NamesOf } from '@mcp-saga/core/shared';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link elicitUrl}. */
export interface ElicitUrlLogicOptions<I> {
  /** Text beside the link. */
  readonly message: OfInput<string, I>;
  /** Absolute URL of the page. */
  readonly url: OfInput<string, I>;
  /** Accepted sources of the answer: the client alone, or also the calling model. */
  readonly accept?: 'client' | 'model';
}

const names: NamesOf<ElicitUrlLogicOptions<unknown>> = {
  message: true,
  url: true,
  accept: true,
};

/**
 * Sends the user to a URL, as actor logic. The step is done when the user agrees to open the URL;
 * check the outcome with a `step`. `onError` receives the same errors as for `elicit`.
 * @example
 * ```ts
 * const sign = elicitUrl({
 *   message: 'Sign the lease',
 *   url: 'https://sign.example/lease',
 * });
 * ```
 */
export function elicitUrl<I = undefined>(
  options: ElicitUrlLogicOptions<I>,
): ClientStepLogic<undefined, I> {
  assertKnownOptions('elicitUrl', undefined, options, names);
  const { accept } = options;
  return clientStepLogic({
    kind: 'elicitUrl',
    toSpec: (id, input) => {
      const message = ofInput(options.message, input);
      const url = ofInput(options.url, input);
      if (typeof message !== 'string' || !URL.canParse(url)) {
        throw new AuthoringError(`Step '${id}' needs a message, and an absolute URL as url.`);
      }
      return { kind: 'elicitUrl', id, message, url, ttl: undefined, accept };
    },
  });
}
