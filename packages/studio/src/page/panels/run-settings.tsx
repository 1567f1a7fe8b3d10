import type { JSX } from 'preact';
import type { ClientKind, Session } from '../../model/session.ts';

interface RunSettingsProps {
  readonly session: Session;
  readonly onChange: (settings: Pick<Session, 'client' | 'isPaused'>) => void;
}

const clients: Readonly<Record<ClientKind, string>> = {
  complete: 'with all capabilities',
  declining: 'that declines at once',
  'no-elicitation': 'without elicitation',
  'no-sampling': 'without sampling',
};

/** Client and clock of the run. */
export function RunSettings({ session, onChange }: RunSettingsProps): JSX.Element {
  return (
    <div class="settings">
      <label>
        Client{' '}
        <select
          value={session.client ?? 'complete'}
          onChange={({ currentTarget }) => onChange({ client: currentTarget.value as ClientKind })}
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
          checked={session.isPaused === true}
          onChange={({ currentTarget }) => onChange({ isPaused: currentTarget.checked })}
        />{' '}
        Stop the clock at each wait
      </label>
    </div>
  );
}
