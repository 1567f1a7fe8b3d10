import { elicitUrl as elicitUrlOfSagas, type Answerer } from '@mcp-saga/core';
import { AuthoringError, assertKnownOptions, present } from '@mcp-saga/core/program';
import type { NamesOf } from '@mcp-saga/core/shared';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link elicitUrl}. */
export interface ElicitUrlLogicOptions<I> {
  /** Text beside the link. */
  readonly message: OfInput<string, I>;
  /** Absolute URL of the page. */
  readonly url: OfInput<string, I>;
  /** Who may answer, in this order: as for `elicitUrl` of sagas. */
  readonly answeredBy?: readonly Answerer[];
}

const names: NamesOf<ElicitUrlLogicOptions<unknown>> = {
  message: true,
  url: true,
  answeredBy: true,
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
  const { answeredBy } = options;
  // Rejects a list that no question takes, with the error of core.
  elicitUrlOfSagas('elicitUrl', {
    message: '',
    url: 'https://a.example',
    ...present({ answeredBy }),
  });
  return clientStepLogic({
    kind: 'elicitUrl',
    toSpec: (id, input) => {
      const message = ofInput(options.message, input);
      const url = ofInput(options.url, input);
      if (typeof message !== 'string' || !URL.canParse(url)) {
        throw new AuthoringError(`Step '${id}' needs a message, and an absolute URL as url.`, {
          anchor: 'questions',
        });
      }
      return { kind: 'elicitUrl', id, message, url, ttl: undefined, answeredBy };
    },
  });
}
