/**
 * Everything that this service seals for itself or for a client: tokens, records of the guard,
 * states of handles, messages of a queue. `sealed-saga.ts` writes and reads the state of a saga,
 * `guard-records.ts` what a guard keeps, and `resolve-program.ts` finds the code that continues a
 * saga.
 *
 * - Each kind has its own purpose, and so its own key: none opens in the place of another.
 * - What comes back is checked field by field before it is used (`readSealedRecord`).
 * - Values that a client chose and values that it must not see are compressed together only if
 *   the author of a step asks for it.
 */
import { decodeHead, isRecord, present, type Outcome } from '@mcp-saga/core/program';
import {
  skewMs,
  TokenRefused,
  type Sealed,
  type Sealer,
  type Stream,
  digestText,
  type Claims,
} from '@mcp-saga/seal';
import type { SagaState, SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import type { ResolvedLimits } from '../model/host-limits.ts';
import { isOwnTurn, type Holder } from '../model/holder.ts';

/**
 * Method of a token that a model copies. It is not the method of the request: neither a saga token
 * nor a request state opens as a resume token.
 */
export const resumeTokenMethod = 'tools/call#resumeToken';

/** `true` if a request may repeat the start of a saga, and follow it from there. */
export function isNamed({ state }: Pick<SealedSaga, 'state'>): boolean {
  return state.isNamed === true;
}

/** Number of requests of the client up to a token. */
export function roundsOf({ claims, state }: SealedSaga): number {
  return claims.turn - (state.ownTurns ?? 0);
}

/** Number of requests of the client, with that of the next turn if the client sends one. */
export function roundOf(saga: SealedSaga, holder: Holder): number {
  return roundsOf(saga) + (isOwnTurn(holder) ? 0 : 1);
}

/**
 * Expectations of what a host of this service sealed for itself: the clock of that host may be
 * ahead.
 */
export const atAnyTime = { ignoreExpiry: true, allowFuture: true } as const;

/**
 * Seals a saga. Values of the client and of the server are in separate streams, so compression
 * reveals no secret.
 */
export async function sealSaga(sealer: Sealer, saga: SealedSaga): Promise<string> {
  return await sealSagaAs('token', sealer, saga);
}

/**
 * Minimum size of a compressed structure, in bytes. A structure contains entry types and step IDs
 * and no values, so its compressed length reveals nothing.
 */
const compressStructureFrom = 256;

/** Seals a saga for a purpose, with `further` streams behind its own. */
export async function sealSagaAs(
  purpose: 'token' | 'handle' | 'wake' | 'start',
  sealer: Sealer,
  saga: SealedSaga,
  further: readonly Stream[] = [],
): Promise<string> {
  const { program } = saga.state;
  const streams: readonly Stream[] = [
    { bytes: encodeOwn(saga.state), compress: false },
    {
      bytes: program.structure,
      compress: compressStructureFrom,
      grows: saga.grown?.structure,
    },
    { bytes: program.client, compress: true, grows: saga.grown?.client },
    { bytes: program.server, compress: false },
    ...further,
  ];
  return await sealer.seal(purpose, saga.sagaId, saga.claims, streams);
}

/** Version of the host's stream, its first byte. */
const ownVersion = 1;

const secretBytes = 32;

/**
 * Encodes the host's stream: a byte, the secret, JSON of the members that most sagas lack, a line
 * feed, and the head.
 */
function encodeOwn(state: SagaState): Uint8Array {
  const { program, secret, generation, ownTurns, trace, keptBytes, requestId } = state;
  const rare = JSON.stringify({
    g: generation === 0 ? undefined : generation,
    t: trace,
    n: ownTurns,
    k: keptBytes,
    i: requestId,
    p: state.hasPages,
    s: state.isNamed,
    u: state.undoes,
  });
  const text = new TextEncoder().encode(`${rare === '{}' ? '' : rare}\n${program.head}`);
  const own = new Uint8Array(1 + secretBytes + text.length);
  own[0] = ownVersion;
  own.set(secret, 1);
  own.set(text, 1 + secretBytes);
  return own;
}

/** Decodes the host's stream. Throws TokenRefused `malformed`. */
function decodeOwn(bytes: Uint8Array | undefined): Own {
  if (bytes?.[0] !== ownVersion) throw new TokenRefused('malformed');
  const secret = bytes.slice(1, 1 + secretBytes);
  const text = readSealedText(bytes.subarray(1 + secretBytes));
  const end = text.indexOf('\n');
  const head = text.slice(end + 1);
  const rare = end > 0 ? parseSealed(text.slice(0, end)) : {};
  if (end < 0 || secret.length !== secretBytes || !isHead(head) || !isRare(rare))
    throw new TokenRefused('malformed');
  return { secret, head, rare };
}

interface Own {
  readonly secret: Uint8Array;
  readonly head: string;
  readonly rare: Rare;
}

/**
 * Members that most sagas lack. Their names are letters: with a longer name, a traceparent would
 * take two units of the padding of a token.
 */
interface Rare {
  /** Generation. Absent: 0. */
  readonly g?: number;
  readonly t?: SagaState['trace'];
  readonly n?: SagaState['ownTurns'];
  readonly k?: SagaState['keptBytes'];
  readonly i?: SagaState['requestId'];
  readonly p?: SagaState['hasPages'];
  readonly s?: SagaState['isNamed'];
  readonly u?: SagaState['undoes'];
}

/**
 * Reads the saga in an opened token of `tokenBytes` characters. Throws TokenRefused `malformed`.
 */
export function toSealedSaga(sealed: Sealed, tokenBytes: number): SealedSaga {
  const [first, structure, client, server] = sealed.streams;
  const { secret, head, rare } = decodeOwn(first);
  const { g: generation = 0, t: trace, n: ownTurns, k: keptBytes, i: requestId } = rare;
  return {
    tokenBytes,
    sagaId: sealed.sid,
    claims: sealed.claims,
    state: {
      secret,
      generation,
      program: {
        head,
        structure: readSealedText(structure),
        client: readSealedText(client),
        server: readSealedText(server),
      },
      ...present({ trace, ownTurns, keptBytes, requestId, hasPages: rare.p, undoes: rare.u }),
      ...present({ isNamed: rare.s }),
    },
  };
}

function isRare(value: unknown): value is Rare {
  if (!isRecord(value)) return false;
  const { g = 0, t = '', n = 0, k = 0, i = '', p = true, u = true, s = true } = value;
  const texts = [t, i].every((member) => typeof member === 'string');
  return (
    texts &&
    [p, u, s].every((member) => member === true) &&
    [g, n, k].every((member) => Number.isSafeInteger(member))
  );
}

/** `true` if the text is the head of a program state. */
function isHead(text: string): boolean {
  try {
    decodeHead(text);
    return true;
  } catch {
    return false;
  }
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

/**
 * Reads the JSON of a sealed stream. Throws TokenRefused `malformed` without a cause, which would
 * quote the plaintext.
 */
export function readSealedJson(stream: Uint8Array | undefined): unknown {
  return parseSealed(readSealedText(stream));
}

/**
 * Reads a record of a sealed stream, and checks the types of its named members. Members without a
 * name are not checked. A seal proves that a host of the service wrote the record, but not that its
 * release has the same members. Throws TokenRefused `malformed` for any other content, without a
 * cause, which would quote the plaintext.
 */
export function readSealedRecord<T>(
  stream: Uint8Array | undefined,
  members: { readonly [name in keyof Required<T>]: SealedMember },
): T {
  const value = readSealedJson(stream);
  if (!isRecord(value)) throw new TokenRefused('malformed');
  for (const [name, kind] of Object.entries<SealedMember>(members)) {
    if (!isOfKind(Object.hasOwn(value, name) ? value[name] : undefined, kind))
      throw new TokenRefused('malformed');
  }
  return value as T;
}

/**
 * Type of a member, or a check of it. `json` is any value, and a question mark is for a member that
 * may be absent.
 */
export type SealedMember =
  | 'string'
  | 'number'
  | 'record'
  | 'list'
  | 'json'
  | 'boolean'
  | 'string?'
  | 'number?'
  | 'boolean?'
  | 'record?'
  | 'json?'
  | ((value: unknown) => boolean);

function isOfKind(value: unknown, kind: SealedMember): boolean {
  if (typeof kind === 'function') return kind(value);
  if (value === undefined) return kind.endsWith('?');
  switch (kind.replace('?', '')) {
    case 'record':
      return isRecord(value);
    case 'list':
      return Array.isArray(value);
    case 'json':
      return true;
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === kind.replace('?', '');
  }
}

function parseSealed(text: string): unknown {
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

// Grace for late clients, after the deadline of a wait.
const afterDeadline = 60 * 60 * 1000;

/**
 * Expiry of a token (ms since the epoch): `limits.tokenTtl` after its issue or an hour after its
 * latest deadline, and never later than the lifetime of the saga. Tokens that only continue
 * compensation may outlive it by an hour.
 */
export function expiryOf(
  host: Pick<HostParts, 'limits'>,
  claims: Pick<Claims, 'born'>,
  iat: number,
  { deadline, undoes }: Pick<Extract<Outcome, { status: 'suspended' }>, 'deadline' | 'undoes'>,
): number {
  const waits = deadline === undefined ? 0 : deadline + afterDeadline;
  const granted = Math.min(
    Math.max(iat + host.limits.tokenTtl, waits),
    endOfLife(host.limits, claims),
  );
  return undoes === true ? Math.max(granted, waits, iat + afterDeadline) : granted;
}

/** End of the lifetime of a saga, in milliseconds since the epoch. */
export function endOfLife(
  { maxLifetime }: Pick<ResolvedLimits, 'maxLifetime'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetime;
}

// The clocks of two hosts may differ once when the token expires, and once when the queue delivers.
const afterExpiry = 2 * skewMs;

/** Time for which a queue may deliver the message of an abandoned saga late, in milliseconds. */
export const messageLifetimeMs: number = 30 * 24 * 60 * 60 * 1000;

/**
 * Time at which a saga is abandoned, and a queue ends it (ms since the epoch): its client can no
 * longer continue it.
 */
export function abandonedAt({ exp }: Pick<Claims, 'exp'>): number {
  return exp + afterExpiry;
}

/** Time until which the message of a turn may be delivered (ms since the epoch). */
export function messageExpiry({ exp }: Pick<Claims, 'exp'>): number {
  return abandonedAt({ exp }) + messageLifetimeMs;
}

/**
 * Expiry of the token of an abandoned saga (ms since the epoch): the next delivery of the queue.
 */
export function abandonedExpiry(iat: number, wait: number): number {
  return wait > 0 ? iat + wait - afterExpiry : iat;
}
