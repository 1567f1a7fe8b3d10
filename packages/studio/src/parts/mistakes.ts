import { ensureSyntaxTree } from '@codemirror/language';
import { StateEffect, StateField, type EditorState, type StateEffectType } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';
import type { Place, SyntaxMistake } from './place.ts';

/** Longest time to parse a file, in milliseconds. The editor has parsed what it shows already. */
const patienceMs = 200;

/**
 * Finds a mistake: the last declaration of a name that is declared twice, or the first piece of code
 * that is no TypeScript. The compiler reads on after a string without an end, and its place is then
 * lines below the mistake.
 */
export function findMistake(state: EditorState, mistake: SyntaxMistake): number | undefined {
  const reported = mistake.place && positionOf(state, mistake.place);
  const own = findDeclaration(state, mistake.what) ?? findError(state);
  if (reported === undefined || own === undefined) return reported ?? own;
  return state.doc.lineAt(own).number < state.doc.lineAt(reported).number ? own : reported;
}

function findDeclaration(state: EditorState, message: string): number | undefined {
  const [, name] = /Identifier '([\w$]+)' has already been declared/.exec(message) ?? [];
  if (name === undefined) return undefined;
  const declared = new RegExp(String.raw`\b(?:const|let|var|class|function\*?)\s+${name}\b`, 'g');
  return [...state.doc.toString().matchAll(declared)].at(-1)?.index;
}

function findError(state: EditorState): number | undefined {
  let first: number | undefined;
  ensureSyntaxTree(state, state.doc.length, patienceMs)?.iterate({
    enter: ({ type, from, to }) => {
      // What is missing stands in front of the next word, which may be lines below.
      if (type.isError) first ??= from === to ? endBefore(state, from) : from;
      return first === undefined;
    },
  });
  return first;
}

/** End of the last word before a position. */
function endBefore({ doc }: EditorState, position: number): number {
  return doc.sliceString(0, position).trimEnd().length;
}

/** Position of a place in the text; at most its end. */
export function positionOf({ doc }: EditorState, { line, column }: Place): number {
  const { from, to } = doc.line(Math.min(line, doc.lines));
  return Math.min(from + column - 1, to);
}

/** Line and column of a position, from 1. */
export function placeOf({ doc }: EditorState, position: number): Place {
  const { number, from } = doc.lineAt(position);
  return { line: number, column: position - from + 1 };
}

/** Marks the position of a mistake; undefined: none. */
export const setMistake: StateEffectType<number | undefined> = StateEffect.define();

function decorate(state: EditorState, position: number): DecorationSet {
  const { from, to, text } = state.doc.lineAt(position);
  const line = Decoration.line({ attributes: { class: 'mistake' } }).range(from);
  const word = /^[\w$]+|^./u.exec(text.slice(position - from))?.[0].length ?? 0;
  // At the end of a line, the character before is marked.
  const start = word === 0 ? Math.max(from, position - 1) : position;
  const end = word === 0 ? to : position + word;
  if (start === end) return Decoration.set(line);
  return Decoration.set([line, Decoration.mark({ class: 'mistake-here' }).range(start, end)]);
}

export const mistakes: StateField<DecorationSet> = StateField.define({
  create: () => Decoration.none,
  update: (decorations, { effects, changes, state }) => {
    const set = effects.find((effect) => effect.is(setMistake));
    if (set === undefined) return decorations.map(changes);
    return set.value === undefined ? Decoration.none : decorate(state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});
