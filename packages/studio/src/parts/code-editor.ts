import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { EventLooks } from '@mcp-saga/testing/internal';
import type { EntryView } from '../model/view.ts';
import { litLines, setLitLines, type LitLines } from './lit-lines.ts';
import { findMarks, lineMarks, setMarks } from './line-marks.ts';
import { findMistake, mistakes, placeOf, positionOf, setMistake } from './mistakes.ts';
import type { Place, SyntaxMistake } from './place.ts';

/**
 * What CodeMirror does not show by itself of the characters that nobody sees. The code of a link can
 * say something else than it shows.
 */
const hiddenInCode =
  /\u034F|[\u115F\u1160\u180E\u2028-\u202E\u2060-\u206F\u2800\u3164\uFFA0\u{E0000}-\u{E007F}]/gu;

/**
 * CodeMirror, with an undo history for each file. Tab leaves the editor, as everywhere on the page.
 */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #states = new Map<string, EditorState>();
  /** The shown file, among those of all examples. */
  #key = '';
  #isReplacing = false;
  #newest: string | undefined;
  #onEdit: ((text: string) => void) | undefined;

  constructor(parent: HTMLElement) {
    this.#view = new EditorView({ parent });
  }

  /**
   * Shows a file, and reports each change of the person. Without `onEdit`, the file is read-only.
   *
   * @param of - example of the file: those of two examples share no history
   */
  show(
    name: string,
    text: string,
    onEdit: ((text: string) => void) | undefined,
    of: string = '',
  ): void {
    const key = `${of}/${name}`;
    this.#onEdit = onEdit;
    const shown = this.#view.state.doc.toString();
    if (this.#key === key && shown === text) return;
    if (this.#key === key && onEdit !== undefined) return this.#replace(shown, text);
    if (this.#key !== '') this.#states.set(this.#key, this.#view.state);
    const known = this.#states.get(key);
    this.#key = key;
    this.#view.setState(known?.doc.toString() === text ? known : this.#stateOf(name, text));
  }

  /** Replaces what differs. The person can undo it, and the rest keeps its marks and its place. */
  #replace(before: string, after: string): void {
    const shorter = Math.min(before.length, after.length);
    let from = 0;
    while (from < shorter && before[from] === after[from]) from += 1;
    let end = 0;
    while (end < shorter - from && before.at(-1 - end) === after.at(-1 - end)) end += 1;
    const insert = after.slice(from, after.length - end);
    this.#isReplacing = true;
    this.#view.dispatch({ changes: { from, to: before.length - end, insert } });
    this.#isReplacing = false;
  }

  mark(entries: readonly EntryView[], looks: EventLooks): void {
    const { state, scrollDOM, hasFocus } = this.#view;
    const marks = findMarks(state.doc.toString(), entries, looks);
    this.#view.dispatch({ effects: setMarks.of(marks) });
    const before = this.#newest;
    this.#newest = JSON.stringify(marks.at(-1));
    const { line } = marks.at(-1) ?? {};
    // The text stays in place while the person types or reads. CodeMirror would scroll the page,
    // too.
    if (line === undefined || this.#newest === before || hasFocus) return;
    const { top } = this.#view.lineBlockAt(state.doc.line(line).from);
    scrollDOM.scrollTop = top - scrollDOM.clientHeight / 3;
  }

  /** Lights lines that leave the file, or have come into it, and scrolls to them. */
  light(lit: LitLines | undefined): void {
    const { state, scrollDOM } = this.#view;
    this.#view.dispatch({ effects: setLitLines.of(lit) });
    if (lit === undefined || lit.line > state.doc.lines) return;
    const { top } = this.#view.lineBlockAt(state.doc.line(lit.line).from);
    scrollDOM.scrollTop = top - scrollDOM.clientHeight / 3;
  }

  /** Marks a mistake in the shown file, and returns its place; undefined if none is found. */
  markMistake(mistake: SyntaxMistake | undefined): Place | undefined {
    const { state } = this.#view;
    const position = mistake && findMistake(state, mistake);
    this.#view.dispatch({ effects: setMistake.of(position) });
    return position === undefined ? undefined : placeOf(state, position);
  }

  /** Moves the cursor to a place of the shown file. */
  goTo(place: Place): void {
    const anchor = positionOf(this.#view.state, place);
    this.#view.dispatch({ selection: { anchor }, scrollIntoView: true });
    this.#view.focus();
  }

  #stateOf(name: string, doc: string): EditorState {
    return EditorState.create({
      doc,
      extensions: [
        EditorState.readOnly.of(this.#onEdit === undefined),
        lineNumbers(),
        highlightSpecialChars({ addSpecialChars: hiddenInCode }),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        lineMarks,
        mistakes,
        litLines,
        EditorView.lineWrapping,
        highlightActiveLine(),
        javascript({ typescript: true }),
        syntaxHighlighting(classHighlighter),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': `Source of ${name}`, tabindex: '0' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged && !this.#isReplacing) this.#onEdit?.(state.doc.toString());
        }),
      ],
    });
  }
}
