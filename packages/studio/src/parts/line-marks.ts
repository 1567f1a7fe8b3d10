import { StateEffect, StateField, type StateEffectType, type EditorState } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';
import type { EventLooks } from './event-looks.ts';
import type { EntryView } from '../model/view.ts';

interface LineMark {
  /** Number of the line, from 1. */
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
  const lines = linesOf(text);
  const marks = new Map<number, LineMark>();
  for (const { id, type, value, turn, attempt = 1, key } of entries) {
    const { line: state } = looks[type];
    // `~book(hotel)` and `book#2` stand in the source as 'book'.
    const line = id === undefined ? undefined : lines.get(id.replace(/^~/, '').replace(/[(#@].*$/, ''));
    if (state === undefined || line === undefined) continue;
    const facts = [`turn ${turn}`, attempt > 1 ? `${attempt} attempts` : '', key ?? ''].filter(Boolean);
    const shown = state === 'undone' ? state : (value ?? type);
    marks.set(line, { line, state, text: shown, facts: facts.join(' · ') });
  }
  return [...marks.values()];
}

/** Returns the line of the first call with each name, as of `step('pay', …)`. */
function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  let line = 1;
  for (const [call, name] of text.matchAll(/\n|\w(?:<[^()\n]*>)?\(\s*['"`]([^'"`\n]*)['"`]/g)) {
    if (name !== undefined && !lines.has(name)) lines.set(name, line);
    line += call.split('\n').length - 1;
  }
  return lines;
}

/** Lights the lines of a run, each with a value. */
export const setMarks: StateEffectType<readonly LineMark[]> = StateEffect.define();

class ValueWidget extends WidgetType {
  readonly #mark: LineMark;

  constructor(mark: LineMark) {
    super();
    this.#mark = mark;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = `mark ${this.#mark.state}`;
    element.textContent = this.#mark.text.slice(0, 60);
    const facts = document.createElement('small');
    facts.textContent = this.#mark.facts;
    element.append(' ', facts);
    // The ladder says the same.
    element.ariaHidden = 'true';
    return element;
  }
}

function decorate({ doc }: EditorState, marks: readonly LineMark[]): DecorationSet {
  const ranges = marks.flatMap((mark) => {
    if (mark.line > doc.lines) return [];
    const { from, to } = doc.line(mark.line);
    return [
      Decoration.line({ class: `lit ${mark.state}` }).range(from),
      Decoration.widget({ widget: new ValueWidget(mark), side: 1 }).range(to),
    ];
  });
  return Decoration.set(ranges, true);
}

/** Extension of the editor for marks. */
export const lineMarks: StateField<DecorationSet> = StateField.define({
  create: () => Decoration.none,
  update: (decorations, { effects, changes, state }) => {
    const marks = effects.find((effect) => effect.is(setMarks));
    return marks === undefined ? decorations.map(changes) : decorate(state, marks.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});
