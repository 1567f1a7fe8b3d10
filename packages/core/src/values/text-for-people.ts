/**
 * Text that a person reads before they decide, or in a log. Such text comes from data: an order, an
 * answer of a model, a name. Its author must not be able to show something else than what the
 * program acts on.
 *
 * - Characters that nobody sees are shown as escapes: control characters, marks that change the
 *   direction of the text around them (U+202E shows `01` for `10`), and characters without a width.
 * - A run of line breaks is limited, so that text cannot push what follows it out of sight.
 * - An emoji keeps the invisible characters that join its parts.
 *
 * The result is for eyes only: record and compare the text itself. A page also isolates it by
 * `<bdi>`, because letters of Hebrew or Arabic order their neighbors, too.
 */
export function textForPeople(text: string): string {
  if (isPlain(text)) return text;
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(unseen, (found, emoji?: string) => emoji ?? escaped(found))
    .replaceAll(breaks, '\n\n');
}

/** The same in one line: line breaks and tabs are escapes, too. */
export function lineForPeople(text: string): string {
  return textForPeople(text).replaceAll(/[\n\t]/g, escaped);
}

/** `true` for most texts: printable ASCII without an empty line. */
function isPlain(text: string): boolean {
  return /^(?:[ -~]|\n(?![\n ]))*$/.test(text);
}

const emojiPart = /\p{Extended_Pictographic}(?:\uFE0F?\p{Emoji_Modifier}?)/u.source;

/**
 * An emoji, which stays, or a character that nobody sees. `Default_Ignorable_Code_Point` has the
 * fillers, selectors, and joiners that are no format characters (Cf). U+2800 is a Braille cell
 * without dots. A lone surrogate has no character.
 */
const unseen: RegExp = /* @__PURE__ */ new RegExp(
  `(${emojiPart}(?:\\u200D${emojiPart})*)|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]`,
  'gu',
);

/** More than one empty line. A line of spaces is empty. */
const breaks: RegExp = /\n(?:[\p{Zs}\t]*\n){2,}/gu;

/** Escapes as JSON and JavaScript write them, so that escaped JSON stays the same JSON. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    const code = text.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${code}`;
  }).join('');
}
