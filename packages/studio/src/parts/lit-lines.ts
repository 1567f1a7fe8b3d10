import { StateEffect, StateField, type StateEffectType } from '@codemirror/state';
import { Decoration, EditorView, type DecorationSet } from '@codemirror/view';

/** Lines of a file that leave it, or have come into it. `line`: the first, from 1. */
export interface LitLines {
  readonly file: string;
  readonly line: number;
  readonly count: number;
  readonly look: 'leaves' | 'comes';
}

/** Lights lines; undefined: none. */
export const setLitLines: StateEffectType<LitLines | undefined> = StateEffect.define();

export const litLines: StateField<DecorationSet> = StateField.define({
  create: () => Decoration.none,
  update: (decorations, { effects, changes, state: { doc } }) => {
    const set = effects.find((effect) => effect.is(setLitLines));
    if (set === undefined) return decorations.map(changes);
    const { line = 0, count = 0, look = '' } = set.value ?? {};
    const lines = Array.from({ length: count }, (_, at) => line + at);
    return Decoration.set(
      lines
        .filter((each) => each <= doc.lines)
        .map((each) => Decoration.line({ class: look }).range(doc.line(each).from)),
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});
