// Splits the parts made by server code from an entry: the fingerprint of a request, and the part of
// a path with keys. The compressed structure also holds bytes chosen by the client, so these parts
// go to the server stream. Their length depends only on the length of the key.

import { MalformedState } from './malformed-state.ts';

/** Digits of a fingerprint, in base 36: enough for 32 bits. */
const fingerprintDigits = 7;
/** Makes a signed number of 32 bits positive. */
const offset = 2 ** 31;
/** Digits of a position in a path, and of a repeat number, in base 36. */
const placeDigits = 2;

export interface SplitPath {
  /** Start of the path, up to its first key, for the structure. */
  readonly open: string;
  /** Rest of the path, for the server stream. */
  readonly withheld: string;
}

export interface Revealed {
  readonly path: string;
  readonly fingerprint: number;
}

/**
 * Splits the step of an entry into its parts in both streams. `hidesPath` withholds the whole path,
 * not only its keys.
 */
export function withhold({ path, fingerprint }: Revealed, hidesPath: boolean): SplitPath {
  const open = hidesPath ? '' : path.slice(0, path.indexOf('(') + 1) || path;
  const digits = toDigits(fingerprint + offset, fingerprintDigits);
  return {
    open,
    withheld: isWhole(open) ? digits : digits + encodeRest(open, path.slice(open.length)),
  };
}

/** Joins the parts from {@link withhold}. Throws MalformedState for a part that it does not make. */
export function reveal(open: string, withheld: unknown): Revealed {
  const fingerprint = fingerprintIn(withheld);
  const rest = (withheld as string).slice(fingerprintDigits);
  return { path: isWhole(open) ? open : open + decodeRest(open, rest), fingerprint };
}

/** The fingerprint of a withheld part. Throws MalformedState for a part without one. */
export function fingerprintIn(withheld: unknown): number {
  if (typeof withheld !== 'string' || withheld.length < fingerprintDigits)
    throw new MalformedState();
  // `Number.parseInt` takes several times as long in base 36, and replay comes here for each step
  // with `input`.
  let digits = 0;
  for (let at = 0; at < fingerprintDigits; at += 1) {
    const code = withheld.charCodeAt(at);
    digits = digits * 36 + code - (code < 58 ? 48 : 87);
  }
  if (!(digits >= 0 && digits < 36 ** fingerprintDigits)) throw new MalformedState();
  return digits - offset;
}

function isWhole(open: string): boolean {
  return open !== '' && !isOpen(open);
}

/** `true` for the part of a path before its first key. */
export function isOpen(part: string): boolean {
  return part.charCodeAt(part.length - 1) === 40;
}

// Steps with equal keys have a number, `(a)` and `(a)#2`. Both encodings have the same length,
// which does not reveal equal keys. The path of an undo may also contain a number inside:
// `~charge(a)#2/refund`.
function encodeRest(open: string, rest: string): string {
  const last = cut(rest, /#([1-9]\d{0,2})$/);
  if (!mayBeUndo(open)) return last.repeat + last.text;
  const inner = cut(last.text, /#([1-9]\d{0,2})(?=\/)/);
  return last.repeat + inner.place + inner.repeat + inner.text;
}

function decodeRest(open: string, encoded: string): string {
  const number = (at: number): number => {
    const digits = encoded.slice(at, at + placeDigits);
    if (!/^[\da-z]{2}$/.test(digits)) throw new MalformedState();
    return Number.parseInt(digits, 36);
  };
  const last = toRepeat(number(0));
  if (!mayBeUndo(open)) return encoded.slice(placeDigits) + last;
  const place = number(placeDigits);
  const text = encoded.slice(3 * placeDigits);
  return text.slice(0, place) + toRepeat(number(2 * placeDigits)) + text.slice(place) + last;
}

function mayBeUndo(open: string): boolean {
  return open === '' || open.startsWith('~');
}

function toRepeat(count: number): string {
  return count === 0 ? '' : `#${count}`;
}

/**
 * Cuts the number that matches a pattern out of a text. Returns the digits to restore the number.
 */
function cut(
  text: string,
  pattern: RegExp,
): { readonly text: string; readonly place: string; readonly repeat: string } {
  const found = pattern.exec(text);
  const place = toDigits(found?.index ?? 0, placeDigits);
  if (found === null || place.length > placeDigits)
    return { text, place: toDigits(0, placeDigits), repeat: toDigits(0, placeDigits) };
  return {
    text: text.slice(0, found.index) + text.slice(found.index + found[0].length),
    place,
    repeat: toDigits(Number(found[1]), placeDigits),
  };
}

function toDigits(value: number, count: number): string {
  return value.toString(36).padStart(count, '0');
}
