import type { JSX } from 'preact';
import { CopyButton } from '../parts/copy-button.tsx';
import { durationOf } from '../page/panels/duration.ts';
import type { LiveToken } from './lanes.ts';
import type { LiveStore } from './live-store.ts';
import { Refusals, StepForm } from './live-form.tsx';

const limitBytes = 65_536;

interface LiveTokenRowProps {
  readonly store: LiveStore;
  readonly token: LiveToken;
  /** `true` if no turn has used the token. */
  readonly isNewest: boolean;
}

/** Token between two turns: its size and expiry, and a form to go back. */
export function LiveTokenRow({ store, token, isNewest }: LiveTokenRowProps): JSX.Element {
  const { turn, sent } = token;
  const { tokenBytes, expiresAt } = turn;
  const [step] = sent?.reply?.steps ?? [];
  const raw = sent?.reply?.sagaToken;
  return (
    <div class="token">
      <details>
        <summary>
          Token {turn.turn} <span>{tokenBytes} bytes, sealed</span>
        </summary>
        <div class="lens">
          <dl>
            <dt>Size</dt>
            <dd>
              <meter min={0} max={limitBytes} value={tokenBytes} aria-label="Size of the token" />{' '}
              {tokenBytes} of {limitBytes} bytes
            </dd>
            {expiresAt !== undefined && (
              <>
                <dt>Expires</dt>
                <dd>
                  {new Date(expiresAt).toLocaleString()}, {durationOf(expiresAt - turn.startedAt)} after the
                  turn
                </dd>
              </>
            )}
          </dl>
          {raw !== undefined && <CopyButton label="Copy token" text={() => raw} />}
        </div>
      </details>
      {step !== undefined && sent !== undefined && !isNewest && (
        <details>
          <summary>Go back to token {turn.turn}</summary>
          <p>
            A fork sends this token again, with another answer. The guard decides whether an older token is
            still valid. Later effects remain.
          </p>
          <StepForm
            step={step}
            accept="Send as a fork"
            onAnswer={(given) => void store.answer(sent, given)}
          />
          <Refusals store={store} from={sent} />
        </details>
      )}
    </div>
  );
}
