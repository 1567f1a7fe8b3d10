import { ofInput, type OfInput, clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/** What `elicitationUrl` asks. */
export interface ElicitationUrlOptions<I> {
  /** What the user reads beside the link. */
  readonly message: OfInput<string, I>;
  /** Where the user is sent: an absolute URL. */
  readonly url: OfInput<string, I>;
  /** Who may answer: the client alone, or also the model that calls the tool. */
  readonly accept?: 'client' | 'model';
}

/**
 * Sends the user to a URL, as actor logic. It is done when the user agreed to open it, which does not mean that anything
 * was done there: let an effect check. `onError` as for `elicitation`.
 */
export function elicitationUrl<I = undefined>(
  options: ElicitationUrlOptions<I>,
): ClientStepLogic<undefined, I> {
  const { accept } = options;
  return clientStepLogic({
    kind: 'elicitUrl',
    toSpec: (id, input) => {
      const message = ofInput(options.message, input);
      const url = ofInput(options.url, input);
      if (typeof message !== 'string' || !URL.canParse(url)) {
        throw new TypeError(`The elicitation '${id}' needs a message and an absolute URL.`);
      }
      return { kind: 'elicitUrl', id, message, url, ttl: undefined, accept };
    },
  });
}
