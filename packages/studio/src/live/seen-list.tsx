import type { SeenTurn } from 'mcp-saga/studio';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { LiveStore } from './live-store.ts';
import { Button, Shown } from '../parts/controls.tsx';

export const statusLabels: Readonly<Record<SeenTurn['status'], string>> = {
  running: 'runs now',
  suspended: 'waits',
  completed: 'completed',
  failed: 'failed',
  rejected: 'request failed',
};

export function SeenList({ store }: { readonly store: LiveStore }): JSX.Element {
  const { seen = [], process } = store.state.value ?? {};
  const wanted = useSignal('');
  const found = seen.filter(({ saga, sagaId, client, method, status }) =>
    [saga, sagaId, client, method, statusLabels[status]]
      .join(' ')
      .toLowerCase()
      .includes(wanted.value),
  );
  return (
    <section class="seen" aria-label="Sagas">
      <h2>
        Sagas{' '}
        <span>
          newest first, in the memory of {process === undefined ? 'this process' : 'mcp-saga dev'}
        </span>
      </h2>
      {seen.length === 0 && <p class="nothing">No client has called a saga yet.</p>}
      <input
        type="search"
        aria-label="Filter the sagas"
        placeholder="Name, ID, status, or client"
        hidden={seen.length < 2}
        onInput={({ currentTarget }) => (wanted.value = currentTarget.value.toLowerCase())}
      />
      <ol>
        {found.map(({ sagaId, saga, client, method, startedAt, turn, status }) => (
          <li key={sagaId}>
            <Button
              aria-pressed={store.saga.value?.sagaId === sagaId}
              onClick={() => store.show(sagaId)}
            >
              <span class={`dot ${status}`} />
              <b>{saga}</b> {sagaId.slice(0, 6)}
              <small>
                turn {turn}, {statusLabels[status]} · {new Date(startedAt).toLocaleTimeString()} ·{' '}
                <Shown text={client ?? method} />
              </small>
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}
