import type { JSX } from 'preact';
import { CopyButton } from '../parts/copy-button.tsx';
import { durationOf } from '../page/panels/duration.ts';
import type { LiveToken } from './lanes.ts';
import { LiveForm } from './live-form.tsx';
import type { LiveStore } from './live-store.ts';

const limitBytes = 65_536;

type LiveTokenRowProps = { readonly store: LiveStore; readonly token: LiveToken };

/** Token between two turns: its size and expiry, and a form to go back. */
export function LiveTokenRow({ store, token }: LiveTokenRowProps): JSX.Element {
  const { turn, startedAt, tokenBytes, expiresAt = 0 } = token.turn;
  const { steps = [], sagaToken } = token.sent?.reply ?? {};
  return (
    <div class="token">
      <details>
        <summary>
          Token {turn} <span>{tokenBytes} bytes, sealed</span>
        </summary>
        <div class="lens">
          <dl>
            <dt>Size</dt>
            <dd>
              <meter min={0} max={limitBytes} value={tokenBytes} aria-label="Size of the token" />{' '}
              {tokenBytes} of {limitBytes} bytes
            </dd>
            <dt>Expires</dt>
            <dd>
              {new Date(expiresAt).toLocaleString()}, {durationOf(expiresAt - startedAt)} after the turn
            </dd>
          </dl>
          {sagaToken !== undefined && <CopyButton label="Copy token" text={() => sagaToken} />}
        </div>
      </details>
      {steps.length > 0 && !token.isNewest && (
        <details>
          <summary>Go back to token {turn}</summary>
          <p>
            A fork sends this token again, with another answer. The guard decides whether an older token is
            still valid. Later effects remain.
          </p>
          <LiveForm store={store} token={token} />
        </details>
      )}
    </div>
  );
}
