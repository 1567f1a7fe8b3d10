// The part of a journal entry that server code made: the fingerprint of a request, and the part of a path with the key of a
// step. The structure is compressed and also holds bytes that the client chose, so this part goes to the server stream. Its
// length depends on the length of the key alone.

/** Digits of a fingerprint, in base 36: enough for 36 bits. */
const fingerprintDigits = 7;
/** Makes a signed number of 32 bits positive. */
const offset = 2 ** 31;
/** Digits of a position in a path, and of the number of a repeated one, in base 36. */
const placeDigits = 2;

/** An entry in two parts. */
export interface SplitPath {
  /** Start of the path, up to its first key, for the structure. */
  readonly open: string;
  /** The rest, for the server stream. */
  readonly withheld: string;
}

/** An entry as it was before it was split. */
export interface Revealed {
  readonly path: string;
  readonly fingerprint: number;
}

/** Splits the step of an entry into its parts in both streams. `hidesPath` withholds the whole path, not only its keys. */
export function withhold({ path, fingerprint }: Revealed, hidesPath: boolean): SplitPath {
  const open = hidesPath ? '' : path.slice(0, path.indexOf('(') + 1) || path;
  const digits = toDigits(fingerprint + offset, fingerprintDigits);
  return { open, withheld: isWhole(open) ? digits : digits + encodeRest(open, path.slice(open.length)) };
}

/** Joins what {@link withhold} split. */
export function reveal({ open, withheld }: SplitPath): Revealed {
  const fingerprint = Number.parseInt(withheld.slice(0, fingerprintDigits), 36) - offset;
  const path = isWhole(open) ? open : open + decodeRest(open, withheld.slice(fingerprintDigits));
  return { path, fingerprint };
}

function isWhole(open: string): boolean {
  return open !== '' && !open.endsWith('(');
}

// Steps with equal keys have a number, `(a)` and `(a)#2`. The encoding has the same length for both, so that the length does
// not reveal equal keys. The path of an undo may contain such a number inside, too: `~charge(a)#2/refund`.
function encodeRest(open: string, rest: string): string {
  const last = cut(rest, /#([1-9]\d{0,2})$/);
  if (!mayBeUndo(open)) return last.repeat + last.text;
  const inner = cut(last.text, /#([1-9]\d{0,2})(?=\/)/);
  return last.repeat + inner.place + inner.repeat + inner.text;
}

function decodeRest(open: string, encoded: string): string {
  const number = (at: number): number => Number.parseInt(encoded.slice(at, at + placeDigits), 36);
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

/** A text without the number that a pattern finds in it, and the digits by which it is put back. */
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
