import ts from 'typescript-5';

/** Limits of the figures. */
export const limits = { pronouns: 5, openings: 5, banned: 5, tags: 0 } as const;

/** A piece of prose, with its place. */
export interface Passage {
  readonly place: string;
  readonly text: string;
  /** `true` for a docstring, whose first word counts. */
  readonly isDocstring?: boolean;
}

/** Figures of a list of passages. */
export interface Figures {
  readonly words: number;
  /** Pronouns and relatives per 100 words. */
  readonly pronouns: number;
  /** Docstrings that open with What, Who, Whether, How, or Where, in percent. */
  readonly openings: number;
  /** Banned phrases per 10,000 words. */
  readonly banned: number;
  /** Requirement tags such as `(T14)`. */
  readonly tags: number;
}

const pronoun =
  /\b(it|its|that|those|these|this|which|what|who|whoever|whom|whose|nobody|somebody|one|ones|such|there|then|so|them|they)\b/gi;
const opening = /^(What|Who|Whose|Whether|How|Where|When|Which|From which|As much|As far)\b/;
const banned =
  /\b(nobody|somebody|anybody|whoever|whomever|be it|for ever|as far as (?:that|it) goes|in (?:its|their|his) (?:stead|place)|of (?:its|their) own|is (?:not )?to be|that there is not|there is none|goes? on|went on|gone on|going on|comes? to|came to|brings? along|brought along|hears? of|knows? of it|by (?:itself|themselves)|is none of|all there is)\b/gi;
const tag = /\([A-Z]\d{1,2}(?:, ?[A-Z]\d{1,2})*\)/g;

/** Counts the figures of passages. */
export function figuresOf(passages: readonly Passage[]): Figures {
  const count = (pattern: RegExp): number =>
    passages.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
  const words = count(/[A-Za-z']+/g);
  const docstrings = passages.filter(({ isDocstring }) => isDocstring === true);
  const opened = docstrings.filter(({ text }) => opening.test(text));
  return {
    words,
    pronouns: rate(count(pronoun), words, 100),
    openings: rate(opened.length, docstrings.length, 100),
    banned: rate(count(banned), words, 10_000),
    tags: count(tag),
  };
}

function rate(count: number, of: number, per: number): number {
  return of === 0 ? 0 : (per * count) / of;
}

/** Names of the figures that are over their limit. */
export function excess(figures: Figures): readonly (keyof typeof limits)[] {
  return (Object.keys(limits) as (keyof typeof limits)[]).filter((name) => figures[name] > limits[name]);
}

/** The passages that add most to the figures, worst first. */
export function worst(passages: readonly Passage[], count: number): readonly Passage[] {
  const weight = ({ text }: Passage): number =>
    (text.match(pronoun)?.length ?? 0) +
    3 * (text.match(banned)?.length ?? 0) +
    (text.match(tag)?.length ?? 0);
  return passages
    .filter((passage) => weight(passage) > 0)
    .toSorted((a, b) => weight(b) - weight(a))
    .slice(0, count);
}

const notProse = /Copyright|eslint|oxlint|licen[cs]e|@ts-|region/i;

/** Code and tags of a comment count as one word. */
function plain(text: string): string {
  return text
    .replaceAll(/^\s*\*+/gm, ' ')
    .replaceAll(/```[\s\S]*?```/g, ' ')
    .replaceAll(/\{@link [^}]*\}|@\w+/g, ' ')
    .replaceAll(/`[^`]*`/g, 'X');
}

/** The comments of a source file. */
export function commentsOf(file: string, text: string): readonly Passage[] {
  return [...text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\n)[ \t]*\/\/(.*)/g)].flatMap(
    ([whole, block, line], index, all) => {
      const comment = block ?? line ?? '';
      if (notProse.test(comment)) return [];
      const place = `${file}:${lineOf(text, all[index]?.index ?? 0)}`;
      return [{ place, text: plain(comment).trim(), isDocstring: whole.trimStart().startsWith('/**') }];
    },
  );
}

/** The lines of a page in Markdown, without code, comments, and front matter. */
export function linesOf(file: string, text: string): readonly Passage[] {
  const blank = (match: string): string => match.replaceAll(/[^\n]/g, ' ');
  const prose = text
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replaceAll(/```[\s\S]*?```/g, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank);
  return prose
    .split('\n')
    .map((line, index) => ({ place: `${file}:${index + 1}`, text: plain(line) }))
    .filter((line) => /[a-z]{3}/.test(line.text));
}

/** The sentences in the strings of a source file: messages of errors, warnings, and logs. At least four words. */
export function stringsOf(file: string, text: string): readonly Passage[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const passages: Passage[] = [];
  const add = (node: ts.Node, string: string): void => {
    // A script in Lua: its comments are prose.
    if (string.includes('redis.call')) {
      for (const [comment] of string.matchAll(/-- .*/g)) add(node, comment);
      return;
    }
    if ((string.match(/[A-Za-z']{2,}/g)?.length ?? 0) < 4 || !string.includes(' ')) return;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    passages.push({ place: `${file}:${line + 1}`, text: plain(string) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node, node.text);
    else if (ts.isTemplateExpression(node))
      add(node, [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('X'));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return passages;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index + 1).split('\n').length;
}
