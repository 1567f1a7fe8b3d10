import type { JSX } from 'preact';
import { CodePane, fileOf } from '../parts/code-pane.tsx';
import { shownEvents } from '../page/panels/time-slider.tsx';
import { Button, Failure } from '../parts/controls.tsx';
import { LiveRun } from './live-run.tsx';
import type { LiveStore } from './live-store.ts';
import { SeenList } from './seen-list.tsx';
import { StartPanel } from './start-panel.tsx';

export function App({ store }: { readonly store: LiveStore }): JSX.Element {
  const { mcp, reloads = 0, problem, process } = store.state.value ?? {};
  return (
    <>
      <header class="bar">
        <h1>
          mcp-saga <span>studio</span>
        </h1>
        <p role="status">
          {process !== undefined && `process ${process.id} · `}
          {mcp === undefined ? 'read-only' : `MCP at ${new URL(mcp, location.href).href}`}
          {reloads > 0 && ` · code reloaded ${reloads === 1 ? 'once' : `${reloads} times`}`}
        </p>
        {process !== undefined && (
          <Button disabled={store.isKilled.value} onClick={() => void store.kill()}>
            Kill this process
          </Button>
        )}
        {mcp !== undefined && <a href="playground">Playground</a>}
      </header>
      <main class="live">
        <div class="side">
          {process?.replaced !== undefined && (
            <p class="killed" role="status">
              Process {process.replaced} was killed, as by a crash. Process {process.id} serves now.
              Each client still holds the token of its saga: answer a question, and the saga goes
              on.
            </p>
          )}
          <Failure text={store.failure.value ?? problem} />
          {mcp !== undefined && <StartPanel store={store} />}
          <SeenList store={store} />
        </div>
        <Source store={store} />
        <LiveRun store={store} />
      </main>
    </>
  );
}

function Source({ store }: { readonly store: LiveStore }): JSX.Element | null {
  const { saga = '' } = store.saga.value ?? {};
  const file = fileOf(store.sources.value?.examples[0]?.files ?? [], saga);
  if (file === undefined || saga === '') return null;
  const { before = [], entries = [] } = store.shownLane.value ?? {};
  return (
    <section class="source" aria-label="Source">
      <CodePane {...file} entries={[...before, ...entries.slice(0, shownEvents.value)]} />
    </section>
  );
}
