import type { AuthInfo } from '../http/serve-options.ts';
import type { ReadRequest } from '../http/json-body.ts';

/** A request to a server, after the checks of its host, its page, and its user. */
export interface ServedRequest extends ReadRequest {
  readonly authInfo?: AuthInfo;
  /** Makes the `context` of server steps. */
  readonly stepContext: () => unknown;
  /** Keeps the runtime alive for work that continues after the answer. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
}
