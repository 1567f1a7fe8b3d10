import { decodeHead, isRecord, present, type Outcome } from '@mcp-saga/core/program';
import {
  fromBase64Url,
  toBase64Url,
  TokenRefused,
  type Sealed,
  type Sealer,
  type Stream,
  digestText,
  type Claims,
} from '@mcp-saga/seal';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import type { HostLimits } from '../model/host-limits.ts';

/** Counts the requests of the client, with the next turn. `isOwn`: the host takes that turn by itself. */
export function roundOf({ claims, state }: SealedSaga, isOwn: boolean): number {
  return claims.turn + 1 - (state.ownTurns ?? 0) - (isOwn ? 1 : 0);
}

/** Seals a saga: what the client knows and what it does not know stand in streams of their own. (T10) */
export async function sealSaga(sealer: Sealer, saga: SealedSaga): Promise<string> {
  return await sealSagaAs('token', sealer, saga);
}

/** Returns the token of the same turn for another method: its requests alone continue the saga. */
export async function sealedFor(method: string, sealer: Sealer, token: string): Promise<string> {
  const sealed = await sealer.open(token, { purpose: 'token', ignoreExpiry: true, allowFuture: true });
  const saga = toSealedSaga(sealed);
  const { claims } = saga;
  return claims.method === method
    ? token
    : await sealSaga(sealer, { ...saga, claims: { ...claims, method } });
}

/** Seals a saga for a purpose. */
export async function sealSagaAs(
  purpose: 'token' | 'cancel' | 'task' | 'handle',
  sealer: Sealer,
  saga: SealedSaga,
): Promise<string> {
  const { program, secret, generation, ownTurns, trace, keptBytes, isResumable, requestId } = saga.state;
  // Without the last four it is what older releases write; they read it with them as well, and leave them out.
  const own = JSON.stringify({
    s: toBase64Url(secret),
    g: generation,
    h: program.head,
    t: trace,
    n: ownTurns,
    k: keptBytes,
    r: isResumable === true ? 1 : undefined,
    i: requestId,
  });
  const streams: readonly Stream[] = [
    { bytes: own, compress: false },
    { bytes: program.structure, compress: true },
    { bytes: program.client, compress: true },
    { bytes: program.server, compress: false },
  ];
  return await sealer.seal(purpose, saga.sagaId, saga.claims, streams);
}

interface Own {
  readonly s: string;
  readonly g: number;
  readonly h: string;
  readonly t?: string;
  readonly n?: number;
  readonly k?: number;
  readonly r?: 1;
  readonly i?: string;
}

/** Reads the saga in an opened token. Throws TokenRefused `malformed`. */
export function toSealedSaga(sealed: Sealed): SealedSaga {
  const [first, structure, client, server] = sealed.streams;
  const own = readSealedJson(first);
  if (!isOwnStream(own)) throw new TokenRefused('malformed');
  const { s, g, h, t, n, k, r, i } = own;
  const secret = fromBase64Url(s);
  if (secret?.length !== 32 || !isHead(h)) throw new TokenRefused('malformed');
  return {
    sagaId: sealed.sid,
    claims: sealed.claims,
    state: {
      secret,
      generation: g,
      program: {
        head: h,
        structure: readSealedText(structure),
        client: readSealedText(client),
        server: readSealedText(server),
      },
      ...present({ trace: t, ownTurns: n, keptBytes: k }),
      ...(r === 1 ? { isResumable: true } : {}),
      ...present({ requestId: i }),
    },
  };
}

function isOwnStream(value: unknown): value is Own {
  const { s, g, h, t = '', n = 0, k = 0, i = '' } = Object(value) as { readonly [member: string]: unknown };
  const texts = [s, h, t, i].every((member) => typeof member === 'string');
  return texts && [g, n, k].every((member) => Number.isSafeInteger(member));
}

/** `true` if the text is the head of a program state. */
function isHead(text: string): boolean {
  try {
    const { turn, asked, waits } = decodeHead(text);
    return Number.isSafeInteger(turn) && isRecord(asked) && isRecord(waits);
  } catch {
    return false;
  }
}

/** The id of one token (`jti`): 16 random bytes. */
export function newTokenId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
}

/** Reads the text of a sealed stream. Throws TokenRefused `malformed`. */
function readSealedText(stream: Uint8Array | undefined): string {
  if (stream === undefined) throw new TokenRefused('malformed');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stream);
  } catch {
    throw new TokenRefused('malformed');
  }
}

/** Reads the JSON of a sealed stream. Throws TokenRefused `malformed`, without a cause that quotes the plaintext. */
export function readSealedJson(stream: Uint8Array | undefined): unknown {
  const text = readSealedText(stream);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new TokenRefused('malformed');
  }
}

/** Digests a JSON-RPC ID of any length to 96 bits, for a token. `1` and `"1"` are different IDs. */
export async function digestRequestId(id: string | number): Promise<string> {
  return (await digestText(JSON.stringify(id))).slice(0, 16);
}

/** Seals the token of a turn for the request that reports it: a guard may have kept the turn for another request ID. */
export async function bindToRequest(
  { keys: { sealer } }: Pick<HostParts, 'keys'>,
  turn: SuspendedTurn,
  id: string | number,
): Promise<SuspendedTurn> {
  const opened = await sealer.open(turn.token, { purpose: 'token', ignoreExpiry: true, allowFuture: true });
  const saga = toSealedSaga(opened);
  const requestId = await digestRequestId(id);
  if (saga.state.isResumable === true && saga.state.requestId === requestId) return turn;
  const state = { ...saga.state, isResumable: true, requestId };
  return { ...turn, token: await sealSaga(sealer, { ...saga, state }) };
}

// Grace for late clients, after the deadline of a wait.
const afterDeadline = 60 * 60 * 1000;

/**
 * Expiry of a token (ms since the epoch): `limits.tokenTtlMs` after its issue or an hour after its latest deadline, and never later
 * than the lifetime of the saga. Tokens that only continue compensation may outlive it by an hour.
 */
export function expiryOf(
  host: Pick<HostParts, 'limits'>,
  claims: Pick<Claims, 'born'>,
  iat: number,
  { deadline, undoes }: Pick<Extract<Outcome, { status: 'suspended' }>, 'deadline' | 'undoes'>,
): number {
  const waits = deadline === undefined ? 0 : deadline + afterDeadline;
  const granted = Math.min(Math.max(iat + host.limits.tokenTtlMs, waits), endOfLife(host.limits, claims));
  return undoes === true ? Math.max(granted, waits, iat + afterDeadline) : granted;
}

/** End of the lifetime of a saga, in milliseconds since the epoch. */
export function endOfLife(
  { maxLifetimeMs }: Pick<HostLimits, 'maxLifetimeMs'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetimeMs;
}

// The token itself is granted 30 seconds of skew; so is this one, on the other side.
const afterExpiry = 60_000;

/** How long a cancel token is good, in milliseconds. */
export const cancelLifetime: number = 30 * 24 * 60 * 60 * 1000;

/** Seals a token for the operator's queue: it only cancels, after the turn's own token has expired, and needs no user. */
export async function sealCancelToken(
  sealer: Sealer,
  saga: SealedSaga,
): Promise<{ readonly cancelToken: string; readonly cancelAfter: number }> {
  const cancelAfter = saga.claims.exp + afterExpiry;
  const claims = { ...saga.claims, iat: cancelAfter, exp: cancelExpiry(saga.claims) };
  return { cancelToken: await sealSagaAs('cancel', sealer, { ...saga, claims }), cancelAfter };
}

/** When the cancel token of a turn expires (ms since the epoch). */
export function cancelExpiry({ exp }: Pick<Claims, 'exp'>): number {
  return exp + afterExpiry + cancelLifetime;
}

/** Expiry of an abandoned saga's token (ms since the epoch), which only tells the queue when to deliver next. */
export function expiryOfLeft(iat: number, wait: number): number {
  return wait > 0 ? iat + wait - afterExpiry : iat;
}
