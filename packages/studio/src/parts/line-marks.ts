import { StateEffect, StateField, type StateEffectType, type EditorState } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import type { EventLooks } from './event-looks.ts';
import type { EntryView } from '../model/view.ts';

interface LineMark {
  readonly line: number;
  readonly state: string;
  readonly text: string;
  /** Turn, number of attempts, and idempotency key. */
  readonly facts: string;
}

/** Finds the line of each step, question, and undo of a run. The last event of a line counts. */
export function findMarks(
  text: string,
  entries: readonly EntryView[],
  looks: EventLooks,
): readonly LineMark[] {
  if (!text.includes('yield*')) return [];
  const lines = linesOf(text, entries[0]?.id ?? '');
  const marks = new Map<number, LineMark>();
  for (const { id, type, value, turn, attempt = 1, key } of entries) {
    const { line: state } = looks[type];
    const line = id === undefined ? undefined : lineOf(id, lines);
    if (state === undefined || line === undefined) continue;
    const facts = [`turn ${turn}`, attempt > 1 ? `${attempt} attempts` : '', key ?? ''].filter(Boolean);
    const shown = state === 'undone' ? state : (value ?? type);
    marks.set(line, { line, state, text: shown, facts: facts.join(' · ') });
  }
  return [...marks.values()];
}

/** Returns the line of each name, as of `step('pay', …)`. The first one behind the name of the saga counts. */
function linesOf(text: string, saga: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const calls = [...text.matchAll(/\w(?:<[^()\n]*>)?\(\s*['"`]([^'"`\n]*)['"`]/g)];
  const from = Math.max(text.indexOf(`'${saga}'`), text.indexOf(`"${saga}"`));
  for (const { index, 1: name = '' } of [...calls.filter((each) => each.index > from), ...calls])
    if (!lines.has(name)) lines.set(name, text.slice(0, index).split('\n').length);
  return lines;
}

/** `~trip/book(hotel)` and `book#2` stand in the source as 'book', and `ship-7` as a template. */
function lineOf(id: string, lines: ReadonlyMap<string, number>): number | undefined {
  const parts = id
    .replace(/^~/, '')
    .replace(/[(#@].*$/, '')
    .split('/')
    .toReversed();
  const isTemplate = ([name]: readonly [string, number]): boolean => {
    const [start = '', ...rest] = name.split(/\$\{[^}]*\}/);
    return (
      rest.length > 0 && parts.some((part) => part.startsWith(start) && part.endsWith(rest.at(-1) ?? ''))
    );
  };
  return parts.flatMap((part) => lines.get(part) ?? [])[0] ?? [...lines].find(isTemplate)?.[1];
}

/** Lights the lines of a run, each with a value. */
export const setMarks: StateEffectType<readonly LineMark[]> = StateEffect.define();

function decorate({ doc }: EditorState, marks: readonly LineMark[]): DecorationSet {
  const lines = marks.flatMap(({ line, state, text, facts }) => {
    // The page writes the facts after the line by CSS, outside of the text.
    const attributes = { class: `lit ${state}`, 'data-value': text.slice(0, 60), 'data-facts': facts };
    return line > doc.lines ? [] : Decoration.line({ attributes }).range(doc.line(line).from);
  });
  return Decoration.set(lines, true);
}

export const lineMarks: StateField<DecorationSet> = StateField.define({
  create: () => Decoration.none,
  update: (decorations, { effects, changes, state }) => {
    const marks = effects.find((effect) => effect.is(setMarks));
    return marks === undefined ? decorations.map(changes) : decorate(state, marks.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});
