import { optionError } from '@mcp-saga/core/shared';
import { canonicalize, digestText } from '@mcp-saga/seal';
import type { ClientKey } from '../model/caller.ts';
import type { Gate, HostParts } from '../settings/host-parts.ts';

/** What a start is called by, besides the key of its client. */
interface StartFacts {
  readonly principal: string | null;
  readonly tool: string;
  readonly argsDigest: string;
  /** Digest of answers that the client has sent with the call. */
  readonly answersDigest?: string | undefined;
}

/**
 * Name of a start: a repetition of the call has the same name, and no other call has. Undefined: the
 * start has no key that counts.
 *
 * The keys of the ring are no part of the name, so that a rotation does not split it.
 */
export async function startName(
  host: HostParts,
  sent: ClientKey,
  { principal, tool, argsDigest, answersDigest }: StartFacts,
): Promise<string | undefined> {
  if (!counts(host.gate, sent, principal)) return undefined;
  const { from } = sent;
  const { starts } = host.gate;
  const key =
    from === 'server' || starts.key === undefined
      ? sent.key
      : starts.key({ key: sent.key, from, tool });
  if (key === undefined) return undefined;
  if (!isKeyForm(key))
    throw optionError('starts.key: expected a string of 1 to 256 characters, or undefined.');
  const { tenant = null } = host.keys;
  // A host that chooses keys has its reasons.
  if (from !== 'server' && starts.key === undefined) {
    const named = [tenant, host.audience, principal, from, tool, key];
    if (await host.gate.keyWatch.isNewCounter(named, argsDigest))
      host.observer.hooks.onWarning(counterAdvice(tool));
  }
  return await digestText(
    canonicalize([
      'start',
      tenant,
      host.audience,
      principal,
      tool,
      argsDigest,
      answersDigest ?? null,
      // The same text by two ways is not the same key.
      from,
      key,
    ]),
  );
}

function counterAdvice(tool: string): string {
  return (
    `A client has sent the same key with other arguments of '${tool}' within an hour. If it counts its calls anew in each session, ` +
    'it will get old results. Give each call a key of its own, or choose the keys by starts.key.'
  );
}

/**
 * `true` if each caller may repeat each call by its key, so that a client may do it by itself.
 *
 * - Over stdio all keys count, but a server does not know its transport when it says so.
 * - Anonymous callers may choose keys that do not count.
 * - A store in memory may forget the first call before the second one comes.
 */
export function countsAllKeys({ guard, gate }: Pick<HostParts, 'guard' | 'gate'>): boolean {
  const { principal, requiresCaller, anonymous, starts } = gate;
  const isPerson = requiresCaller && anonymous.calls !== 'accept' && principal !== 'client-only';
  const isKept = guard !== undefined && !guard.isInMemory;
  return isPerson && isKept && starts.key === undefined;
}

/** `true` for the form of a key. A lone surrogate has no UTF-8. */
export function isKeyForm(key: unknown): key is string {
  return typeof key === 'string' && key !== '' && key.length <= 256 && !/\p{Cs}/u.test(key);
}

/** At least 128 random bits, in base64url or as a UUID. */
const unguessable = /^[\w-]{22,}$/;

/**
 * `true` if the key of a client names a start. Whoever repeats a start gets its token, and keys
 * stand in transcripts and logs: so the principal must be a person, or the key a secret of a caller
 * whom the host lets do this.
 */
function counts(
  { principal: by, anonymous }: Gate,
  { key, from, isLocal = false }: ClientKey,
  principal: string | null,
): boolean {
  if (from === 'server' || isLocal) return true;
  // All users of a client application may share such a principal, and count their calls alike.
  if (principal !== null && by !== 'client-only') return true;
  return from === 'client' && anonymous.starts === 'accept' && unguessable.test(key);
}
