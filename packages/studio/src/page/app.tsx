import type { JSX } from 'preact';
import { Consent } from '../parts/consent.tsx';
import { CrashMatrix } from './crash-matrix.tsx';
import { RunView } from './run-view.tsx';
import { ShareMenu } from '../parts/share-menu.tsx';
import { SourceEditor } from './source-editor.tsx';
import type { Store } from './store.ts';

/** The page: the source and its crash matrix, beside the run. */
export function App({ store }: { readonly store: Store }): JSX.Element {
  return (
    <>
      <header class="bar">
        <h1>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M3 4h7a3 3 0 0 1 0 6H6" />
            <circle cx="4.5" cy="10" r="2" />
          </svg>
          mcp-saga <span>playground</span>
        </h1>
        <label>
          <span class="hidden">Example</span>
          <select
            value={store.example.value}
            onChange={({ currentTarget }) => void store.open(`#example=${currentTarget.value}`)}
          >
            {store.examples.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <ShareMenu
          all="Every link contains the code in the editor, and the answered questions."
          bare="Placeholders stand for the answers."
          values="answers"
          link={async (hasValues) => await store.link(hasValues)}
        />
        <a href="../start/playground.html">About</a>
      </header>
      <main>
        {store.waits.value && <Consent onRun={() => store.runAll()} />}
        <div class="left">
          <SourceEditor store={store} />
          <CrashMatrix store={store} />
        </div>
        <RunView store={store} />
      </main>
    </>
  );
}
