import type { RefusalReason } from '@mcp-saga/seal';

/** What each reason of a refusal comes of: for who develops, never for the wire. */
const reasons: { readonly [reason in RefusalReason]: string } = {
  malformed: 'It is no token, or a part of one.',
  too_large: 'It is longer than limits.maxTokenBytes.',
  unknown_key:
    'This host does not have its key: another SAGA_KEYS, a key dropped too early, or an ephemeral one.',
  undecryptable: 'It was changed, or sealed for another `audience`, or by another key of the same id.',
  purpose: 'It is a token for something else.',
  audience: 'It was sealed for another `audience`.',
  sid: 'It is of another saga.',
  not_yet_valid:
    'Its time has not come: a cancel token opens after its cancelAfter. For another token, the clock of this host is behind ' +
    'the clock of the host that issued it.',
  expired: 'It was good for `limits.tokenTtlMs`, within the `limits.maxLifetimeMs` of its saga.',
  revoked: 'It was issued before `rejectIssuedBefore`.',
  method: 'It was handed out by another method.',
  target: 'This host does not serve its saga, or the call is of another tool.',
  arguments: 'The call has other arguments than the one that started the saga.',
  principal: 'The `principal` of this request is another than the one that started the saga.',
  engine: 'It was sealed by a newer release.',
  forbidden: '`authorize` said no.',
  request: 'It belongs to a request with another JSON-RPC ID.',
  unknown_handle: 'The store has no such handle: it has expired, or no server of this service handed it out.',
  guard_restarted:
    'It was issued before this process started, and memoryGuard() does not know whether it was used. A fleet shares a guard.',
  used: 'The guard knows that it was used with other answers, or that a newer one was.',
};

/** What a reason comes of, in a sentence; undefined for one that nobody knows. */
export function whyRefused(reason: string): string | undefined {
  return Object.hasOwn(reasons, reason) ? reasons[reason as RefusalReason] : undefined;
}
