import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Button } from '../parts/controls.tsx';
import { CodePane, fileOf } from '../parts/code-pane.tsx';
import type { Store } from './store.ts';

export function SourceEditor({ store }: { readonly store: Store }): JSX.Element {
  const chosen = useSignal('');
  const files = store.files.value;
  const file =
    files.find(({ name }) => name === chosen.value) ?? fileOf(files, store.example.value);
  const { name = '', text = '' } = file ?? {};
  return (
    <section class="source" aria-label="Source">
      <div class="tabs">
        {files.map(({ name: own }) => (
          <Button key={own} aria-pressed={own === name} onClick={() => (chosen.value = own)}>
            {own}
          </Button>
        ))}
        {!store.waits.value && (
          <Button
            class="quiet"
            aria-pressed={store.pinned.value !== undefined}
            title="Keeps the run of this version, and compares the next version while you edit"
            onClick={() => void store.togglePin()}
          >
            Pin this version
          </Button>
        )}
      </div>
      <CodePane
        name={name}
        text={text}
        failure={store.failure.value}
        entries={store.entries.value}
        ready={store.ready}
        {...(store.isDev ? {} : { onEdit: (edited: string) => store.edit(name, edited) })}
      />
    </section>
  );
}
