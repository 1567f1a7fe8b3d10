/** What a token is for. A token of one purpose never opens for another: the purpose is part of its key. */
export type Purpose = 'token' | 'cancel' | 'response' | 'handle' | 'blob' | 'task';

/** What a token says about itself, sealed and checked on every open. */
export interface Claims {
  /** The method that started the saga. */
  readonly method: string;
  /** What the client called, and a digest of the arguments it called it with; see `digestArguments`. */
  readonly entry: { readonly target: string; readonly argsDigest: string };
  /** The saga that runs now, which `continueAs` may have changed. */
  readonly saga: { readonly name: string; readonly version: string };
  /** Whose saga it is. `null`, for nobody known, is a value of its own: it agrees only with `null`. */
  readonly principal: string | null;
  /** The version of the engine that sealed it. */
  readonly engine: number;
  /** The number of the turn that ends with this token. */
  readonly turn: number;
  /** An id of this token alone. */
  readonly jti: string;
  /** When the saga began, in milliseconds since the epoch. */
  readonly born: number;
  /** When this token was sealed, in milliseconds since the epoch. */
  readonly iat: number;
  /** When it stops opening, in milliseconds since the epoch, give or take the skew. */
  readonly exp: number;
}

/** What the key of a token is bound to, by the key schedule; sealed inside as well. */
export interface Binding {
  readonly purpose: Purpose;
  /** The service the token is for. It guards against mistakes, not against a service that has the same key. */
  readonly audience: string;
  /** The id of the key in the ring. */
  readonly kid: string;
  /** The id of the saga: 16 random bytes, base64url. */
  readonly sid: string;
}

/** Claims and binding as they come out of a token. */
export interface BoundClaims extends Binding {
  readonly claims: Claims;
}

const purposes: readonly string[] = [
  'token',
  'cancel',
  'response',
  'handle',
  'blob',
  'task',
] satisfies Purpose[];

/** Whether a value names a purpose. */
export function isPurpose(value: unknown): value is Purpose {
  return typeof value === 'string' && purposes.includes(value);
}

/** Encodes claims and binding as a JSON array. Throws TypeError for claims that {@link decodeClaims} would not accept. */
export function encodeClaims(claims: Claims, { purpose, audience, kid, sid }: Binding): string {
  const { method, entry, saga, principal, engine, turn, jti, born, iat, exp } = claims;
  const { target, argsDigest } = entry;
  // prettier-ignore
  const members = [
    purpose, audience, kid, sid,
    method, target, argsDigest, saga.name, saga.version,
    principal, engine, turn, jti, born, iat, exp,
  ];
  if (!areMembers(members)) throw new TypeError('The claims of a token have a member of another type');
  return JSON.stringify(members);
}

/** Reads what {@link encodeClaims} wrote; `undefined` for anything else. */
export function decodeClaims(text: string): BoundClaims | undefined {
  const members = parse(text);
  if (!Array.isArray(members) || !areMembers(members)) return undefined;
  // prettier-ignore
  const [
    purpose, audience, kid, sid,
    method, target, argsDigest, name, version,
    principal, engine, turn, jti, born, iat, exp,
  ] = members;
  return {
    purpose,
    audience,
    kid,
    sid,
    claims: {
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
    },
  };
}

type BindingMembers = [purpose: Purpose, audience: string, kid: string, sid: string];
type CallMembers = [method: string, target: string, argsDigest: string, name: string, version: string];
type TurnMembers = [principal: string | null, engine: number, turn: number, jti: string];
type TimeMembers = [born: number, iat: number, exp: number];
type Members = [...BindingMembers, ...CallMembers, ...TurnMembers, ...TimeMembers];

// One letter a member: text, nullable text, whole number.
const memberTypes = 'tttttttttnwwtwww';

function areMembers(members: readonly unknown[]): members is Members {
  if (members.length !== memberTypes.length || !isPurpose(members[0])) return false;
  for (let index = 0; index < memberTypes.length; index += 1) {
    const member = members[index];
    const type = memberTypes[index];
    if (type === 'w' ? !isWholeNumber(member) : typeof member !== 'string') {
      if (type !== 'n' || member !== null) return false;
    }
  }
  return true;
}

function isWholeNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
