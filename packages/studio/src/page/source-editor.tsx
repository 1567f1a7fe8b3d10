import type { JSX } from 'preact';
import { Button } from '../parts/controls.tsx';
import { CodePane, fileOf } from '../parts/code-pane.tsx';
import type { Store } from './store.ts';

export function SourceEditor({ store }: { readonly store: Store }): JSX.Element {
  const { value: files } = store.files;
  const saga = fileOf(files, store.example.value);
  const file = files.find(({ name }) => name === store.shownFile.value) ?? saga;
  const { name = '', text = '' } = file ?? {};
  return (
    <section class={`source ${store.isStale.value ? 'stale' : ''}`} aria-label="Source">
      <div class="tabs">
        <Button aria-pressed={file === saga} onClick={() => (store.shownFile.value = '')}>
          {saga?.name}
        </Button>
        <OtherFiles store={store} saga={saga?.name} shown={name} />
        {!store.isDev && store.isEdited.value && (
          <Button class="quiet" onClick={() => store.change(store.originals.value)}>
            Undo all edits
          </Button>
        )}
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
        of={store.example.value}
        failure={store.failure.value}
        onShow={(shown) => (store.shownFile.value = shown === saga?.name ? '' : shown)}
        entries={store.entries.value}
        lit={store.litLines.value}
        ready={store.ready}
        {...(store.isDev ? {} : { onEdit: (edited: string) => store.edit(name, edited) })}
      />
    </section>
  );
}

/** The list of the files around the saga: fakes, and the script. */
function OtherFiles({
  store: { files, shownFile },
  saga,
  shown,
}: {
  readonly store: Store;
  readonly saga: string | undefined;
  readonly shown: string;
}): JSX.Element | null {
  const others = files.value.filter(({ name }) => name !== saga);
  if (others.length === 0) return null;
  return (
    <label>
      <span class="hidden">Other files</span>
      <select
        class="files"
        value={shown === saga ? '' : shown}
        onChange={({ currentTarget: { value } }) => (shownFile.value = value)}
      >
        <option value="">
          {others.length === 1 ? '1 other file' : `${others.length} other files`}
        </option>
        {others.map(({ name }) => (
          <option key={name} value={name} label={name} />
        ))}
      </select>
    </label>
  );
}
