import { TokenRefused } from '../model/errors.ts';
import { optionError } from '../model/option-error.ts';
import { ByteReader, ByteWriter } from './byte-layout.ts';

/** Purpose of a token. The key contains the purpose, so a token never opens for another purpose. */
export type Purpose =
  | 'token'
  | 'response'
  | 'handle'
  | 'blob'
  | 'ticket'
  | 'answer'
  | 'wake'
  | 'start';

/** Sealed facts about a token, checked on every open. */
export interface Claims {
  /** Method of the start of the saga. */
  readonly method: string;
  /** Called tool, and digest of the arguments by `digestArguments`. */
  readonly entry: { readonly target: string; readonly argsDigest: string };
  /** Current saga. `continueAs` changes it. */
  readonly saga: { readonly name: string; readonly version: string };
  /** Owner of the saga. `null` for an anonymous caller, and matches only `null`. */
  readonly principal: string | null;
  /** Engine version of the saga. */
  readonly engine: number;
  /** Number of the turn that ends with the token. */
  readonly turn: number;
  /** ID of the token. */
  readonly jti: string;
  /** Start of the saga, in milliseconds since the epoch. */
  readonly born: number;
  /** Issue time of the token, in milliseconds since the epoch. */
  readonly iat: number;
  /** Expiry of the token, in milliseconds since the epoch. */
  readonly exp: number;
}

/** Values that the key schedule binds a token to. The token also contains them. */
export interface Binding {
  readonly purpose: Purpose;
  /** Service of the token. Protects against mistakes, not against a service with the same key. */
  readonly audience: string;
  /** ID of the key in the ring. */
  readonly kid: string;
  /** ID of the saga: 16 random bytes in base64url. */
  readonly sid: string;
}

/** Claims and binding of an opened token. */
export interface BoundClaims extends Binding {
  readonly claims: Claims;
}

// A token contains the position of its purpose: append only.
const purposes = [
  'token',
  'response',
  'handle',
  'blob',
  'ticket',
  'answer',
  'wake',
  'start',
] as const satisfies readonly Purpose[];

/** `true` if a value is a purpose. */
export function isPurpose(value: unknown): value is Purpose {
  return (purposes as readonly unknown[]).includes(value);
}

/**
 * Encodes claims, purpose, and audience. Throws TypeError for a member of a wrong type. The header
 * has key ID and saga ID.
 */
export function encodeClaims(claims: Claims, { purpose, audience }: Binding): Uint8Array {
  assertClaims(claims);
  const { method, entry, saga, principal, engine, turn, jti, born, iat, exp } = claims;
  return new ByteWriter()
    .number(purposes.indexOf(purpose))
    .text(audience)
    .text(method)
    .text(entry.target)
    .text(entry.argsDigest)
    .text(saga.name === entry.target ? null : saga.name)
    .text(saga.version)
    .text(principal)
    .number(engine)
    .number(turn)
    .text(jti)
    .number(born)
    .number(iat)
    .number(exp)
    .finish();
}

/** Decodes the bytes of {@link encodeClaims}. Throws TokenRefused `malformed` for other bytes. */
export function decodeClaims(
  bytes: Uint8Array,
  { kid, sid }: Pick<Binding, 'kid' | 'sid'>,
): BoundClaims {
  const reader = new ByteReader(bytes);
  const purpose = purposes[reader.number()];
  const audience = reader.text();
  const method = reader.text();
  const target = reader.text();
  const argsDigest = reader.text();
  const name = reader.textOrNull() ?? target;
  const version = reader.text();
  const principal = reader.textOrNull();
  const engine = reader.number();
  const turn = reader.number();
  const jti = reader.text();
  const born = reader.number();
  const iat = reader.number();
  const exp = reader.number();
  if (purpose === undefined || !reader.isAtEnd) throw new TokenRefused('malformed');
  const claims = {
    method,
    entry: { target, argsDigest },
    saga: { name, version },
    principal,
    engine,
    turn,
    jti,
    born,
    iat,
    exp,
  };
  return { purpose, audience, kid, sid, claims };
}

function assertClaims({
  method,
  entry,
  saga,
  principal,
  engine,
  turn,
  jti,
  born,
  iat,
  exp,
}: Claims): void {
  const texts = [
    method,
    entry.target,
    entry.argsDigest,
    saga.name,
    saga.version,
    principal ?? '',
    jti,
  ];
  const isGood =
    principal !== undefined &&
    texts.every((text) => typeof text === 'string') &&
    [engine, turn, born, iat, exp].every(isWholeNumber);
  if (!isGood) throw optionError('A member of the claims has a wrong type');
}

/** `true` for a safe integer from 0. */
function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
