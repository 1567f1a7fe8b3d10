import type { JSX } from 'preact';
import type { ClientKind } from '../model/session.ts';
import { Button } from '../parts/controls.tsx';
import { durationOf } from '@mcp-saga/testing/internal';
import type { Store } from './store.ts';

const clients: Readonly<Record<ClientKind, string>> = {
  complete: 'with all capabilities',
  declining: 'that declines at once',
  'no-elicitation': 'without elicitation',
  'no-sampling': 'without sampling',
};

export function RunSettings({ store }: { readonly store: Store }): JSX.Element {
  const { client = 'complete', isPaused = false } = store.session.value;
  return (
    <div class="settings">
      <label>
        Client{' '}
        <select
          value={client}
          onChange={({ currentTarget }) => store.set({ client: currentTarget.value as ClientKind })}
        >
          {Object.entries(clients).map(([kind, title]) => (
            <option key={kind} value={kind}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={isPaused}
          onChange={({ currentTarget }) => store.set({ isPaused: currentTarget.checked })}
        />{' '}
        Stop the clock between turns
      </label>
    </div>
  );
}

export function Clock({
  store,
  at,
}: {
  readonly store: Store;
  readonly at: number;
}): JSX.Element | null {
  const { question, pause } = store.lanes.value[at] ?? {};
  if (pause === undefined) return null;
  const { dueInMs, outside } = pause;
  const isMain = question === undefined && outside.length === 0;
  const wait = (ms: number): void => store.act(at, { action: 'wait', ms });
  return (
    <details class="clock" open={question === undefined || dueInMs !== undefined}>
      <summary>Let time pass</summary>
      <div class="buttons">
        {dueInMs !== undefined && (
          <Button class={isMain ? 'primary' : ''} onClick={() => wait(dueInMs)}>
            Skip {durationOf(dueInMs)}, to the next event
          </Button>
        )}
        {[1_000, 60_000, 3_600_000, 86_400_000, 604_800_000].map((ms) => (
          <Button key={ms} class="quiet" onClick={() => wait(ms)}>
            Advance {durationOf(ms)}
          </Button>
        ))}
      </div>
    </details>
  );
}
