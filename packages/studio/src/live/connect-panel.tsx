import { clientSnippets } from 'mcp-saga/internal';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { CopyButton, Fold } from '../parts/controls.tsx';
import type { LiveStore } from './live-store.ts';

type ConnectPanelProps = { readonly store: LiveStore };

/** Configuration of a client for the served sagas, to copy. */
export function ConnectPanel({ store }: ConnectPanelProps): JSX.Element {
  return (
    <Fold class="access" summary="Connect a client">
      <Snippets store={store} />
    </Fold>
  );
}

function Snippets({ store }: ConnectPanelProps): JSX.Element {
  const { mcp = '', name = '' } = store.state.value ?? {};
  const snippets = clientSnippets({ name, url: new URL(mcp, location.href).href });
  const chosen = useSignal(0);
  const snippet = snippets[chosen.value];
  return (
    <>
      <select
        aria-label="Client"
        value={chosen.value}
        onChange={({ currentTarget }) => (chosen.value = currentTarget.selectedIndex)}
      >
        {snippets.map(({ client, isTried }, index) => (
          <option key={client} value={index}>
            {client}
            {!isTried && ' (not tried)'}
          </option>
        ))}
      </select>
      {snippet !== undefined && (
        <div class="snippet">
          <p>
            In <code>{snippet.file}</code>:
          </p>
          <pre tabIndex={0} aria-label={`Configuration of ${snippet.client}`}>
            <code>{snippet.text}</code>
          </pre>
          {snippet.note !== undefined && <p>{snippet.note}</p>}
          {!snippet.isTried && (
            <p>From the documentation of {snippet.client}. Nobody has tried it with mcp-saga.</p>
          )}
          <CopyButton label="Copy the configuration" text={() => snippet.text} />
        </div>
      )}
    </>
  );
}
