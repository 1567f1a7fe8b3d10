import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EntryView } from '../model/view.ts';
import type { CodeEditor } from './code-editor.ts';
import { looks } from './event-looks.ts';
import { Failure } from './controls.tsx';

interface CodePaneProps {
  readonly name: string;
  readonly text: string;
  /** Absent if the code is only shown. */
  readonly onEdit?: (text: string) => void;
  readonly failure: string | undefined;
  /** Events that light their lines. */
  readonly entries?: readonly EntryView[];
  /** Resolves when the editor may load. */
  readonly ready: Promise<unknown>;
}

const none: readonly EntryView[] = [];

/** Editor of a file, with its mistake. A plain text field until the editor is loaded. */
export function CodePane({ name, text, onEdit, failure, entries = none, ready }: CodePaneProps): JSX.Element {
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void ready
      .then(() => import('./code-editor.ts'))
      .then(({ CodeEditor: Editor }) => {
        if (place.current !== null) editor.value = new Editor(place.current);
      });
  }, []);
  useEffect(() => {
    editor.value?.show(name, text, onEdit);
    // The chunk of the editor has no own copy of the table.
    editor.value?.mark(entries, looks);
  }, [editor.value, name, text, entries]);
  return (
    <>
      <div class="code" ref={place}>
        {editor.value === undefined && (
          <textarea
            aria-label={`Source of ${name}`}
            spellcheck={false}
            value={text}
            readOnly={onEdit === undefined}
            onInput={({ currentTarget }) => onEdit?.(currentTarget.value)}
          />
        )}
      </div>
      <Failure text={failure} />
    </>
  );
}
