import { principalOf, type Caller } from '../host/caller.ts';
import type { HostSettings } from '../host/host-options.ts';

/** How a host offers resumable requests. */
export interface ResumableRequestOptions {
  /**
   * `accept` offers them to callers that are not authenticated. Anybody who has a token of such a call, even one that was
   * used, then gets its newest token, and what is asked there. Default: such callers get none.
   */
  readonly bearer?: 'accept';
}

/** `true` if a caller may resume requests: a token that lies about in a log is not enough by itself. */
export async function mayResume(
  { principal, resumableRequests }: Pick<HostSettings, 'principal' | 'resumableRequests'>,
  caller: Caller,
): Promise<boolean> {
  return resumableRequests.bearer === 'accept' || (await principalOf(caller, principal)) !== null;
}
