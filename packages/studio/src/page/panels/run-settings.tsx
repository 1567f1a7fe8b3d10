import type { JSX } from 'preact';
import type { ClientKind } from '../../model/session.ts';

interface RunSettingsProps {
  readonly client: ClientKind;
  readonly isPaused: boolean;
  readonly onChange: (settings: { readonly client: ClientKind; readonly isPaused: boolean }) => void;
}

const clients: Readonly<Record<ClientKind, string>> = {
  complete: 'with all capabilities',
  declining: 'that declines at once',
  'no-elicitation': 'without elicitation',
  'no-sampling': 'without sampling',
};

/** Client and clock of the run. */
export function RunSettings({ client, isPaused, onChange }: RunSettingsProps): JSX.Element {
  return (
    <div class="settings">
      <label>
        Client{' '}
        <select
          value={client}
          onChange={({ currentTarget }) => onChange({ client: currentTarget.value as ClientKind, isPaused })}
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
          onChange={({ currentTarget }) => onChange({ client, isPaused: currentTarget.checked })}
        />{' '}
        Stop the clock at each wait
      </label>
    </div>
  );
}
