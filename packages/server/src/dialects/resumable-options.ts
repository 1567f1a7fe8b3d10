import { principalOf, type Caller } from '../host/caller.ts';
import type { HostSettings } from '../host/host-options.ts';

/** Options for resumable requests. */
export interface ResumableRequestOptions {
  /**
   * `accept` offers resumable requests to unauthenticated callers. A used token of such a call, found in a log, then gives
   * the newest token and its question. Default: authenticated callers only.
   */
  readonly bearer?: 'accept';
}

/** `true` if a caller may resume requests. */
export async function mayResume(
  { principal, resumableRequests }: Pick<HostSettings, 'principal' | 'resumableRequests'>,
  caller: Caller,
): Promise<boolean> {
  return resumableRequests.bearer === 'accept' || (await principalOf(caller, principal)) !== null;
}
