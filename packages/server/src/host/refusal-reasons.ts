import type { RefusalReason } from '@mcp-saga/seal';

/** What each reason of a refusal comes of: for who develops, never for the wire. */
const reasons: { readonly [reason in RefusalReason]: string } = {
  malformed: 'It is no token: it was cut off or quoted, or is something else.',
  'too-large': 'It is longer than limits.maxTokenBytes.',
  'unknown-key':
    'It names a key that this host does not have: another SAGA_KEYS, one that was dropped too early, or an ephemeral key of ' +
    'a process that has ended.',
  undecryptable:
    'It was changed, or sealed for another `audience` (by default the name that serveSagas is given), or by another key of ' +
    'the same id.',
  purpose: 'It is not a token to go on with.',
  audience: 'It was sealed for another `audience`.',
  sid: 'It is of another saga than the one that is gone on with.',
  'not-yet-valid':
    'Its time has not come: a cancel token of onSuspended opens after its cancelAfter. Or two processes have different clocks.',
  expired: 'It was good for `tokenTtl`, and no longer than `maxLifetime` from the start of its saga.',
  revoked: 'It was issued before `rejectIssuedBefore`.',
  method: 'It came back by another method than the one that it was handed out by.',
  target:
    'This host does not serve the saga that it names, or the call that it came with is of another tool.',
  arguments: 'The call that it came with has other arguments than the one that started the saga.',
  principal:
    'Somebody else has started the saga: the `principal` of this request is another, or there is none.',
  engine: 'It was sealed by a newer release.',
  forbidden: '`authorize` said no.',
  used: 'The guard knows that it was used with other answers, or that a newer one of its saga was.',
};

/** What a reason comes of, in a sentence; undefined for one that nobody knows. */
export function whyRefused(reason: string): string | undefined {
  return Object.hasOwn(reasons, reason) ? reasons[reason as RefusalReason] : undefined;
}
