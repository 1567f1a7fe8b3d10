import { lineForPeople } from '@mcp-saga/core/shared';
import { StateEffect, StateField, type StateEffectType, type EditorState } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import type { EventLooks } from '@mcp-saga/testing/internal';
import type { EntryView } from '../model/view.ts';

/** `facts`: turn, number of attempts, and idempotency key. */
type LineMark = Readonly<{ line: number } & Record<'state' | 'text' | 'facts', string>>;

/**
 * Finds the line of each step, question, and undo of a run. The last event of a line counts. The
 * newest comes last.
 */
export function findMarks(
  text: string,
  entries: readonly EntryView[],
  looks: EventLooks,
): LineMark[] {
  if (!text.includes('yield*')) return [];
  const lines = linesOf(text, entries[0]?.id ?? '');
  const marks = new Map<number, LineMark>();
  const last = entries.at(-1);
  // The saga gets no answer of a request that the host refuses.
  const taken = last?.type === 'refused' ? entries.filter(({ turn }) => turn < last.turn) : entries;
  const events = taken.flatMap((entry) => [...(entry.reads ?? []), entry]);
  for (const { stepId, id = stepId, type, value, turn, attempt = 1, key } of events) {
    const { line: state } = looks[type];
    const line = id === undefined ? undefined : lineOf(id, lines);
    // The error of the saga lights its step only if nothing else does: a question that was not
    // asked.
    if (state === undefined || line === undefined || (id === stepId && marks.has(line))) continue;
    const facts = [`turn ${turn}`, attempt > 1 ? `${attempt} attempts` : '', key ?? ''].filter(
      Boolean,
    );
    const shown = state === 'undone' ? state : (value ?? type);
    marks.delete(line);
    marks.set(line, { line, state, text: shown, facts: facts.join(' · ') });
  }
  return [...marks.values()];
}

/**
 * Returns the line of each name, as of `step('pay', …)`. The first one behind the name of the saga
 * counts.
 */
function linesOf(source: string, saga: string): ReadonlyMap<string, number> {
  const text = source.replaceAll(stringOrComment, blank);
  const at = Math.max(0, text.indexOf(`'${saga}'`), text.indexOf(`"${saga}"`));
  const before = text.slice(0, at);
  const calls = [...callsIn(text.slice(at), before.split('\n').length), ...callsIn(before, 1)];
  const isOnly = (name: string): boolean => calls.filter(([other]) => other === name).length === 1;
  return new Map(calls.filter(([name]) => !named.includes(name) || isOnly(name)).toReversed());
}

/**
 * Commands whose ID is their name. They have a line only if the file has no other command of the
 * name.
 */
const named = ['sleep', 'checkpoint', 'now', 'random', 'uuid', 'info'];
const bare = String.raw`(?<![.\w])(${named.join('|')})(?:Until)?\(`;
// Methods of other objects, such as `get` of a map, are no commands.
const call = String.raw`(?:(?<![.\w])\w+|\.(?:approval|elicit\w*|listRoots|poll|sample|step|waitFor))(?:<[^()\n]*>)?`;
const allCalls = new RegExp(String.raw`\n|${bare}|${call}\(\s*['"\`]([^'"\`\n]*)['"\`]`, 'g');
const blank = (found: string): string =>
  found.startsWith('/') ? found.replaceAll(/./g, ' ') : found;
const stringOrComment =
  /(["'])(?:\\.|(?!\1).)*\1|`(?:\\[^]|[^`\\])*`|(?<![^\s;,(){}[\]])(?:\/\/.*|\/\*[^]*?\*\/)/g;

function* callsIn(
  text: string,
  firstLine: number,
): Generator<readonly [name: string, line: number]> {
  let line = firstLine;
  for (const [found, command, name = command] of text.matchAll(allCalls)) {
    if (name !== undefined) yield [name, line];
    line += found.split('\n').length - 1;
  }
}

/** `~trip/book(hotel)` and `book#2` stand in the source as 'book', and `ship-7` as a template. */
function lineOf(id: string, lines: ReadonlyMap<string, number>): number | undefined {
  const [path = ''] = id.replace(/^~/, '').split(/[(#@]/);
  const parts = path.split('/').toReversed();
  const isTemplate = (name: string): boolean => {
    const [start = '', ...rest] = name.split(/\$\{[^}]*\}/);
    const end = rest.at(-1) ?? '';
    // A template such as `${path}/pay/${id}` would fit each ID.
    return start + end !== '' && parts.some((part) => part.startsWith(start) && part.endsWith(end));
  };
  const own = parts.find((part) => lines.has(part));
  return lines.get(
    own ?? [...lines.keys()].find((name) => name.includes('${') && isTemplate(name)) ?? '',
  );
}

/** Lights the lines of a run, each with a value. */
export const setMarks: StateEffectType<readonly LineMark[]> = StateEffect.define();

function decorate({ doc }: EditorState, marks: readonly LineMark[]): DecorationSet {
  const lines = marks.flatMap(({ line, state, text, facts }) => {
    // The page writes the facts after the line by CSS, outside of the text.
    const attributes = {
      class: `lit ${state}`,
      'data-value': lineForPeople(text.slice(0, 60)),
      'data-facts': lineForPeople(facts),
    };
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
