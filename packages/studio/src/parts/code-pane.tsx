import { useSignal } from '@preact/signals';
import { looks } from '@mcp-saga/testing/internal';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { SourceFile } from '../model/session.ts';
import type { EntryView } from '../model/view.ts';
import type { CodeEditor } from './code-editor.ts';
import { Button, Failure } from './controls.tsx';
import type { LitLines } from './lit-lines.ts';
import { syntaxMistakeIn, type Place } from './place.ts';

interface CodePaneProps {
  readonly name: string;
  readonly text: string;
  /** Example of the file. */
  readonly of?: string;
  /** Absent if the code is only shown. */
  readonly onEdit?: (text: string) => void;
  readonly failure?: string | undefined;
  readonly lit?: LitLines | undefined;
  /** Shows another file: that of the failure. */
  readonly onShow?: (name: string) => void;
  readonly entries?: readonly EntryView[] | undefined;
  /** Resolves when the editor may load. Default: at once. */
  readonly ready?: Promise<unknown>;
}

/** Editor of a file, with its mistake. A plain text field until the editor is loaded. */
export function CodePane(props: CodePaneProps): JSX.Element {
  const {
    name,
    text,
    of,
    onEdit,
    onShow,
    failure,
    lit,
    entries,
    ready = Promise.resolve(),
  } = props;
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const mistake = syntaxMistakeIn(failure);
  const isHere = mistake?.file === name;
  /** Place of the mistake: the one that the editor finds, or that of the compiler. */
  const found = useSignal<Place | undefined>(undefined);
  const goes = useRef(false);
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
    editor.value?.show(name, text, onEdit, of);
    // The chunk of the editor has no own copy of the table.
    editor.value?.mark(entries ?? [], looks);
  }, [editor.value, of, name, text, entries]);
  useLayoutEffect(
    () => editor.value?.light(lit?.file === name ? lit : undefined),
    [editor.value, name, lit],
  );
  useLayoutEffect(() => {
    const marked = editor.value?.markMistake(isHere ? mistake : undefined);
    found.value = marked ?? mistake?.place;
    if (goes.current && isHere && found.value !== undefined) editor.value?.goTo(found.value);
    goes.current = false;
    // A place of the compiler moves with the text. Any other one is found anew.
  }, [editor.value, name, failure, mistake?.place === undefined ? text : undefined]);
  const go = (): void => {
    if (isHere && found.value !== undefined) return editor.value?.goTo(found.value);
    goes.current = true;
    onShow?.(mistake?.file ?? '');
  };
  const { line, column } = found.value ?? {};
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
      {mistake === undefined ? (
        <Failure text={failure} />
      ) : (
        <p class="failure" role="alert">
          SyntaxError in {mistake.file}
          {line !== undefined && `, line ${line}, column ${column}`}: {mistake.what}{' '}
          {(line !== undefined || !isHere) && <Button onClick={go}>Show</Button>}
        </p>
      )}
    </>
  );
}

/** Returns the file that a page shows first: the one that names a saga, or that has steps. */
export function fileOf(files: readonly SourceFile[], saga: string): SourceFile | undefined {
  const isNamed = ({ text }: SourceFile): boolean =>
    text.includes(`'${saga}'`) || text.includes(`"${saga}"`);
  return files.find(isNamed) ?? files.find(({ text }) => text.includes('yield*')) ?? files[0];
}
