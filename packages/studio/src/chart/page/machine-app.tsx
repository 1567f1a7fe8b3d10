import type { JSX } from 'preact';
import { CodePane } from '../../parts/code-pane.tsx';
import { Consent } from '../../parts/consent.tsx';
import { ShareMenu } from '../../parts/share-menu.tsx';
import { ChartView } from './chart-view.tsx';
import { MachinePanel } from './machine-panel.tsx';
import type { MachineStore } from './machine-store.ts';

export function MachineApp({ store }: { readonly store: MachineStore }): JSX.Element {
  return (
    <>
      <header class="bar">
        <h1>
          mcp-saga <span>statechart</span>
        </h1>
        <label>
          <span class="hidden">Example</span>
          <select onChange={({ currentTarget }) => store.open(currentTarget.value)}>
            {Object.keys(store.examples).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <ShareMenu
          all="Every link contains the code in the editor."
          bare="The machine starts in its first state, without input."
          values="input, events, and results"
          link={async (hasValues) => await store.link(hasValues)}
        />
        <a href="./index.html">Playground</a>
        <a href="../start/playground.html#statecharts">About</a>
      </header>
      <main class="machine">
        {store.waits.value && <Consent onRun={() => store.run()} />}
        <section class="source" aria-label="Source">
          <CodePane
            name="machine.ts"
            text={store.code.value}
            failure={store.failure.value}
            ready={store.compiler}
            onEdit={(code) => store.edit({ code })}
          />
          <label class="input">
            Input of the machine, as JSON
            <input
              value={store.input.value}
              onInput={({ currentTarget }) => store.edit({ input: currentTarget.value })}
            />
          </label>
        </section>
        <ChartView store={store} />
        <MachinePanel store={store} />
      </main>
    </>
  );
}
