import { useSignal } from '@preact/signals';
import { looks } from '@mcp-saga/testing/internal';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SourceFile } from '../model/session.ts';
import type { EntryView } from '../model/view.ts';
import type { CodeEditor } from './code-editor.ts';
import { Failure } from './controls.tsx';

interface CodePaneProps {
  readonly name: string;
  readonly text: string;
  /** Absent if the code is only shown. */
  readonly onEdit?: (text: string) => void;
  readonly failure?: string | undefined;
  readonly entries?: readonly EntryView[] | undefined;
  /** Resolves when the editor may load. Default: at once. */
  readonly ready?: Promise<unknown>;
}

/** Editor of a file, with its mistake. A plain text field until the editor is loaded. */
export function CodePane(props: CodePaneProps): JSX.Element {
  const { name, text, onEdit, failure, entries, ready = Promise.resolve() } = props;
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void ready
      .then(() => import('./code-editor.ts'))
      .then(({ CodeEditor: Editor }) => {
        if (place.current !== null) editor.value = new Editor(place.current);
      });
  }, []);
  // Before the next key: a later effect would put an older text over the newer one.
  useLayoutEffect(() => {
    editor.value?.show(name, text, onEdit);
    // The chunk of the editor has no own copy of the table.
    editor.value?.mark(entries ?? [], looks);
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

/** Returns the file that a page shows first: the one that names a saga, or that has steps. */
export function fileOf(files: readonly SourceFile[], saga: string): SourceFile | undefined {
  const isNamed = ({ text }: SourceFile): boolean =>
    text.includes(`'${saga}'`) || text.includes(`"${saga}"`);
  return files.find(isNamed) ?? files.find(({ text }) => text.includes('yield*')) ?? files[0];
}
