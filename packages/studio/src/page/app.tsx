import type { JSX } from 'preact';
import { Consent } from '../parts/consent.tsx';
import { Shown } from '../parts/controls.tsx';
import { renderPage } from '../parts/render-page.ts';
import { CrashMatrix } from './crash-matrix.tsx';
import { Demo } from './demo.tsx';
import { RunView } from './run-view.tsx';
import { ShareMenu } from '../parts/share-menu.tsx';
import { SourceEditor } from './source-editor.tsx';
import { Store, type Home } from './store.ts';
import './studio.css';
import './panels.css';

/** Draws the page, and follows the links in its address. */
export function startPage(home: Home): Store {
  const store = new Store(home);
  void store.open(location.hash);
  addEventListener('hashchange', () => void store.open(location.hash));
  renderPage(<App store={store} />, document.querySelector('#app') as Element);
  return store;
}

function App({ store }: { readonly store: Store }): JSX.Element {
  const { value: waits } = store.waits;
  const { input = 'those of the script', answers } = store.session.value;
  const groups = Map.groupBy(store.examples.value, ({ group = 'Sagas' }) => group);
  const effects = (
    <>
      The playground runs the steps of this saga many times, with crashes and failures. Steps that
      call other systems really call them. Arguments: <Shown text={input} />. Answers:{' '}
      <Shown text={answers.length === 0 ? 'none' : JSON.stringify(answers)} />
    </>
  );
  return (
    <>
      <header class="bar">
        <h1>
          mcp-saga <span>playground</span>
        </h1>
        <label>
          <span class="hidden">Example</span>
          <select
            value={store.example.value}
            onChange={({ currentTarget }) => (location.hash = `example=${currentTarget.value}`)}
          >
            {Array.from(groups, ([group, own]) => (
              <optgroup key={group} label={group}>
                {own.map(({ name, title }) => (
                  <option key={name} value={name} label={title} />
                ))}
              </optgroup>
            ))}
          </select>
        </label>
        {!store.isDev && (
          <ShareMenu
            all="Every link contains the code in the editor, the answered questions, and the open case."
            bare="Placeholders stand for the answers."
            values="answers"
            link={async (hasValues) => await store.link(hasValues)}
          />
        )}
        {store.isDev ? <a href="./">Studio</a> : <a href="../start/playground.html">About</a>}
      </header>
      <main>
        {!waits && <Demo store={store} />}
        {waits && <Consent {...(store.isDev ? { effects } : {})} onRun={() => store.allow()} />}
        <div class="left">
          <SourceEditor store={store} />
          {!waits && <CrashMatrix store={store} />}
        </div>
        {!waits && <RunView store={store} />}
      </main>
    </>
  );
}
