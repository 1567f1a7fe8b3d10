import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EntryView } from '../model/view.ts';
import type { CodeEditor } from './code-editor.ts';
import { Failure } from './failure.tsx';

interface CodePaneProps {
  readonly name: string;
  readonly text: string;
  readonly onEdit: (text: string) => void;
  /** Mistake in the code. */
  readonly failure: string | undefined;
  /** Events that light their lines. */
  readonly entries?: readonly EntryView[];
  /** Resolves when the editor may load. */
  readonly ready?: Promise<void>;
}

const none: readonly EntryView[] = [];

/** Editor of a file, with its mistake. A plain text field until the editor is loaded. */
export function CodePane(props: CodePaneProps): JSX.Element {
  const { name, text, onEdit, failure, entries = none, ready } = props;
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The compiler loads too, as an edit must not make a request.
    void Promise.resolve(ready)
      .then(() => Promise.all([import('./code-editor.ts'), import('../engine/compile.ts')]))
      .then(([{ CodeEditor: Editor }]) => {
        if (place.current !== null) editor.value = new Editor(place.current);
      });
  }, []);
  useEffect(() => {
    editor.value?.show(name, text, onEdit);
    editor.value?.mark(entries);
  }, [editor.value, name, text, entries]);
  return (
    <>
      <div class="code" ref={place}>
        {editor.value === undefined && (
          <textarea
            aria-label={`Source of ${name}`}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => onEdit(currentTarget.value)}
          />
        )}
      </div>
      <Failure text={failure} />
    </>
  );
}
