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
import { findMarks, lineMarks, setMarks } from './line-marks.ts';

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
  #name = '';
  #newest: string | undefined;
  #onEdit: ((text: string) => void) | undefined;

  constructor(parent: HTMLElement) {
    this.#view = new EditorView({ parent });
  }

  /** Shows a file, and reports each change. Without `onEdit`, the file is read-only. */
  show(name: string, text: string, onEdit: ((text: string) => void) | undefined): void {
    this.#onEdit = onEdit;
    if (this.#name === name && this.#view.state.doc.toString() === text) return;
    if (this.#name !== '') this.#states.set(this.#name, this.#view.state);
    const known = this.#states.get(name);
    this.#name = name;
    this.#view.setState(known?.doc.toString() === text ? known : this.#stateOf(name, text));
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
        EditorView.lineWrapping,
        highlightActiveLine(),
        javascript({ typescript: true }),
        syntaxHighlighting(classHighlighter),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': `Source of ${name}`, tabindex: '0' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) this.#onEdit?.(state.doc.toString());
        }),
      ],
    });
  }
}
