import { AuthoringError, assertKnownOptions, optionNames } from '@mcp-saga/core/program';
import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** Options of {@link elicitUrl}. */
export interface ElicitUrlLogicOptions<I> {
  /** Text that the user reads beside the link. */
  readonly message: OfInput<string, I>;
  /** Page that the user is sent to: an absolute URL. */
  readonly url: OfInput<string, I>;
  /** Accepted sources of the answer: the client alone, or also the model that calls the tool. */
  readonly accept?: 'client' | 'model';
}

const names = /* @__PURE__ */ optionNames<ElicitUrlLogicOptions<unknown>>({
  message: true,
  url: true,
  accept: true,
});

/**
 * Sends the user to a URL, as actor logic. The step is done when the user agrees to open the URL. Check the outcome on that page
 * with a `step`. `onError` receives the same errors as for `elicit`.
 *
 * @example
 * setup({ actors: { sign: elicitUrl({ message: 'Sign the lease', url: 'https://sign.example/lease' }) } });
 */
export function elicitUrl<I = undefined>(options: ElicitUrlLogicOptions<I>): ClientStepLogic<undefined, I> {
  assertKnownOptions('elicitUrl', undefined, options, names);
  const { accept } = options;
  return clientStepLogic({
    kind: 'elicitUrl',
    toSpec: (id, input) => {
      const message = ofInput(options.message, input);
      const url = ofInput(options.url, input);
      if (typeof message !== 'string' || !URL.canParse(url)) {
        throw new AuthoringError(`The elicitation '${id}' needs a message and an absolute URL.`);
      }
      return { kind: 'elicitUrl', id, message, url, ttl: undefined, accept };
    },
  });
}
