import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { CodeEditor } from '../../page/code-editor.ts';
import { ChartView } from './chart-view.tsx';
import { MachinePanel } from './machine-panel.tsx';
import type { MachineStore } from './machine-store.ts';

/** The page: the code, the statechart, and the panel of the running machine. */
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
        <a href="./index.html">Playground</a>
        <a href="../start/playground.html#statecharts">About</a>
      </header>
      <main class="machine">
        <MachineSource store={store} />
        <ChartView store={store} />
        <MachinePanel store={store} />
      </main>
    </>
  );
}

function MachineSource({ store }: { readonly store: MachineStore }): JSX.Element {
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const place = useRef<HTMLDivElement>(null);
  const { value: code } = store.code;
  useEffect(() => {
    void import('../../page/code-editor.ts').then(({ CodeEditor: Editor }) => {
      if (place.current !== null) editor.value = new Editor(place.current);
    });
  }, []);
  useEffect(() => {
    editor.value?.show('machine.ts', code, (edited) => store.edit({ code: edited }));
  }, [editor.value, code]);
  return (
    <section class="source" aria-label="Source">
      <div class="code" ref={place}>
        {editor.value === undefined && (
          <textarea
            aria-label="Source of machine.ts"
            spellcheck={false}
            value={code}
            onInput={({ currentTarget }) => store.edit({ code: currentTarget.value })}
          />
        )}
      </div>
      <label class="input">
        Input of the machine, as JSON
        <input
          value={store.input.value}
          onInput={({ currentTarget }) => store.edit({ input: currentTarget.value })}
        />
      </label>
      {store.failure.value !== undefined && (
        <p class="failure" role="alert">
          {store.failure.value}
        </p>
      )}
    </section>
  );
}
