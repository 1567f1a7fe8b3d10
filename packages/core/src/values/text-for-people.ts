/**
 * Text that a person reads before they decide, or in a log. Such text comes from data: an order, an
 * answer of a model, a name. Its author must not be able to show something else than what the
 * program acts on.
 *
 * - Characters that nobody sees are shown as escapes: control characters, marks that change the
 *   direction of the text around them (U+202E shows `01` for `10`), and characters without a width.
 * - Such a character stays where Unicode gives it an effect that is seen: a joiner in a word of
 *   Persian, Hindi, or Bengali, the parts of an emoji, the variant of a Chinese character.
 * - A run of line breaks is limited, so that text cannot push what follows it out of sight.
 *
 * The result is for eyes only: record and compare the text itself. A page also isolates it by
 * `<bdi>`, because letters of Hebrew or Arabic order their neighbors, too.
 */
export function textForPeople(text: string): string {
  if (isPlain(text)) return text;
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(unseen(), (found, honest?: string) => honest ?? escaped(found))
    .replaceAll(breaks, '\n\n');
}

/** The same in one line: line breaks and tabs are escapes, too. */
export function lineForPeople(text: string): string {
  return textForPeople(text).replaceAll(/[\n\t]\p{M}*/gu, escaped);
}

/** `true` for most texts: printable ASCII without an empty line. */
function isPlain(text: string): boolean {
  return !/[^ -~\n]|\n[\n ]/.test(text);
}

/** Marks that are seen. Their number is bounded, so that a long run of them costs no time. */
const marks = String.raw`(?:(?!\p{Default_Ignorable_Code_Point})\p{M}){0,8}`;

/**
 * Letters of the scripts in use whose letters join (Joining_Type D, L, or R), and those which also
 * join the next letter (D or L), as UAX #31 and the rule CONTEXTJ of IDNA need them. A regular
 * expression of JavaScript does not know the property.
 */
const joining = String.raw`(?![\u0621\u0640\u0674\u06E5\u06E6\u0861\u0866\u0883-\u0887\u08AD\u1880-\u1884])(?=\p{L})[\u0620-\u077F\u07CA-\u07EA\u0840-\u08C8\u1807\u1820-\u18AA\u{10D00}-\u{10D23}\u{1E900}-\u{1E943}]`;
const joiningNext = String.raw`(?![\u0622-\u0625\u0627\u0629\u062F-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06C0\u06C3-\u06CB\u06CD\u06CF\u06D2\u06D3\u06D5\u06EE\u06EF\u0710\u0715-\u0719\u071E\u0728\u072A\u072C\u072F\u074D\u0759-\u075B\u076B\u076C\u0771\u0773\u0774\u0778\u0779\u0840\u0846\u0847\u0849\u0854\u0856-\u0858\u0867\u0869\u086A\u0870-\u0882\u088E\u08AA-\u08AC\u08AE\u08B1\u08B2\u08B9\u{10D22}])${joining}`;

/** Letters of Indic scripts in use, and the marks that link two of them (ccc=Virama). */
const indic = String.raw`(?=\p{L})[\u0900-\u0DFF\u1000-\u109F\u1780-\u17DC\u1A20-\u1BE5\uA880-\uABEA\u{11103}-\u{11126}]`;
const virama = String.raw`[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u1039\u103A\u17D2\u1A60\u1B44\u1BAA\u1BAB\u1BF2\u1BF3\uA8C4\uA953\uA9C0\uAAF6\uABED\u{11133}\u{11134}]`;

/** Joiners of scripts. Each ends what it changes, so that none follows another. */
const joiners = [
  // U+200C between two letters that would join, and U+200D after one that would not join.
  String.raw`${joiningNext}${marks}(?:\u200C(?=${marks}${joining})|\u200D(?!${marks}${joining}))`,
  // After a virama, a joiner chooses the form of the letters; before it, in Bengali and Sinhala.
  `${indic}${marks}(?:${virama}${marks}[\\u200C\\u200D]|\\u200D(?=${virama}${indic}))`,
];

/** Variants of a Chinese character, and of a Mongolian letter or its vowel at the end of a word. */
const variants = [
  String.raw`\p{Unified_Ideograph}[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
  String.raw`[\u1820-\u18AA](?:[\u180B-\u180D\u180F]|\u180E(?=[\u1820\u1821]))`,
];

/**
 * The flags of England, Scotland, and Wales, the only parts of countries whose flags Unicode
 * recommends: a region in tag characters, and their end. Other tags are not seen, and could hide a
 * sentence behind flags, which a model reads, and a person does not.
 */
const tags = ['gbeng', 'gbsct', 'gbwls'].map((region) =>
  Array.from(region, (letter) => `\\u{${(0xe0000 + letter.charCodeAt(0)).toString(16)}}`).join(''),
);
const flag = String.raw`\u{1F3F4}(?:${tags.join('|')})\u{E007F}`;

/** Digits are emoji, too, but only as keycaps. A newer emoji than the runtime knows is unassigned. */
const emoji = String.raw`(?![\d#*\p{Regional_Indicator}])(?:\p{Emoji}|(?=\p{Cn})\p{Extended_Pictographic})[\uFE0E\uFE0F]?\p{Emoji_Modifier}?`;
const emojis = [
  String.raw`(?:${flag}|${emoji})(?:\u200D(?:${flag}|${emoji}))*`,
  String.raw`[\d#*][\uFE0E\uFE0F]?\u20E3`,
];

/**
 * A character that nobody sees. `Default_Ignorable_Code_Point` has the fillers, selectors, and
 * joiners that are no format characters (Cf). U+2800 is a Braille cell without dots, U+1D159 a note
 * without a head. A lone surrogate has no character. Signs of Arabic around a number (U+0600, …)
 * are format characters, and are seen.
 */
const hidden = String.raw`(?![\n\t\u0600-\u0605\u06DD\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]`;

let unseenPattern: RegExp | undefined;

/**
 * What stays, or a character that nobody sees. A mark after it would combine with the last
 * character of the escape, and is escaped, too. It is made with the first text that needs it,
 * because its tables take a tenth of the time to import a host.
 */
function unseen(): RegExp {
  return (unseenPattern ??= new RegExp(
    `(${[...joiners, ...variants, ...emojis].join('|')})|${hidden}\\p{M}*`,
    'gu',
  ));
}

/** More than one empty line. A line of spaces is empty. */
const breaks: RegExp = /\n(?:[\p{Zs}\t]*\n){2,}/gu;

/** Escapes as JSON and JavaScript write them, so that escaped JSON stays the same JSON. */
function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    const code = text.charCodeAt(at).toString(16).padStart(4, '0');
    return `\\u${code}`;
  }).join('');
}
