import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { CodeEditor } from './code-editor.ts';
import type { Store } from './store.ts';

/** The files of the saga. A plain text field until the editor is loaded. */
export function SourceEditor({ store }: { readonly store: Store }): JSX.Element {
  const chosen = useSignal('');
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  const files = store.files.value;
  const file = files.find(({ name }) => name === chosen.value) ?? files[0];
  const { name = '', text = '' } = file ?? {};
  const entries = store.entries.value;

  useEffect(() => {
    // The editor loads after the first run, which it would delay. The compiler loads too, as an edit must not make a request.
    void store.ready
      .then(() => Promise.all([import('./code-editor.ts'), import('../engine/compile.ts')]))
      .then(([{ CodeEditor: Editor }]) => {
        if (place.current !== null) editor.value = new Editor(place.current);
      });
  }, []);
  useEffect(() => {
    editor.value?.show(name, text, (edited) => store.edit(name, edited));
    editor.value?.mark(entries);
  }, [editor.value, name, text, entries]);

  return (
    <section class="source" aria-label="Source">
      <div class="tabs">
        {files.map((each) => (
          <button
            key={each.name}
            type="button"
            aria-pressed={each.name === name}
            onClick={() => (chosen.value = each.name)}
          >
            {each.name}
          </button>
        ))}
        {store.pinned.value === undefined && (
          <button
            type="button"
            class="quiet"
            title="Keeps the run of this version, and compares the next version while you edit"
            onClick={() => void store.pin()}
          >
            Pin this version
          </button>
        )}
      </div>
      <div class="code" ref={place}>
        {editor.value === undefined && (
          <textarea
            aria-label={`Source of ${name}`}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => store.edit(name, currentTarget.value)}
          />
        )}
      </div>
      {store.failure.value !== undefined && (
        <p class="failure" role="alert">
          {store.failure.value}
        </p>
      )}
    </section>
  );
}
