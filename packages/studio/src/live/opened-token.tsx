import type { SagaInspection } from '@mcp-saga/server';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Failure, Shown } from '../parts/controls.tsx';
import { RawToken, TokenContents, TokenSize } from '../parts/token-facts.tsx';
import type { LiveStore } from './live-store.ts';

const at = (time: number): string => new Date(time).toLocaleString();

type OpenedTokenProps = { readonly store: LiveStore; readonly token: string };

/** Shows what a token holds, which the server opens with its key. The key stays there. */
export function OpenedToken({ store, token }: OpenedTokenProps): JSX.Element | null {
  const opened = useSignal<SagaInspection | string | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    opened.value = undefined;
    void store.inspect(token).then((found) => {
      if (isCurrent) opened.value = found;
    });
    return () => (isCurrent = false);
  }, [token]);
  const { value: found } = opened;
  if (found === undefined) return null;
  if (typeof found === 'string') return <Failure text={found} />;
  const { claims, keyId, sagaId, tokenBytes, parts, timeline, receipts = [], expired } = found;
  const { saga, turn, method, principal, born, iat, exp } = claims;
  return (
    <div class="lens opened">
      <RawToken token={token} keyId={keyId} />
      <h4>The key opens</h4>
      <dl>
        <dt>Saga</dt>
        <dd>
          <Shown text={saga.name} /> version <Shown text={saga.version} />
          <br />
          <code>{sagaId}</code>
        </dd>
        <dt>Turn</dt>
        <dd>
          {turn}, started by <code>{method}</code>
        </dd>
        <dt>Owner</dt>
        <dd>{principal ?? 'anonymous: whoever holds the token'}</dd>
        <dt>Started</dt>
        <dd>{at(born)}</dd>
        <dt>Sealed</dt>
        <dd>{at(iat)}</dd>
        <dt>{expired ? 'Expired' : 'Expires'}</dt>
        <dd>{at(exp)}</dd>
        <TokenSize bytes={tokenBytes} />
        <TokenContents parts={parts} timeline={timeline} />
        {receipts.length > 0 && (
          <>
            <dt>Receipts</dt>
            <dd>
              {receipts.map((receipt, index) => (
                <p key={index}>
                  <code>{JSON.stringify(receipt)}</code>
                </p>
              ))}
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

/** Form for a token of any client, such as one from a log of its requests. */
export function TokenLens({ store }: { readonly store: LiveStore }): JSX.Element {
  const given = useSignal('');
  const token = useSignal('');
  return (
    <details class="access">
      <summary>Open a token</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          token.value = given.value.trim();
        }}
      >
        <label>
          Token of any client. The server opens it with its key
          <textarea
            value={given.value}
            rows={3}
            required
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => (given.value = currentTarget.value)}
          />
        </label>
        <button type="submit">Open the token</button>
      </form>
      {token.value !== '' && (
        <>
          <h3 class="hidden">Opened token</h3>
          <OpenedToken store={store} token={token.value} />
        </>
      )}
    </details>
  );
}
