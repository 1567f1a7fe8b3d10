import type { SagaInspection } from '@mcp-saga/server';
import type { JSX } from 'preact';
import { limitBytes } from './controls.tsx';

const pieces = ['header', 'key', 'nonce', 'ciphertext', 'tag'] as const;

/** Token as its client holds it, in pieces. Instead of a long token, a client may hold a handle. */
export function RawToken({
  token,
  keyId,
}: Readonly<Record<'token' | 'keyId', string>>): JSX.Element {
  const isHandle = !token.includes('.');
  return (
    <>
      <h4>The client sees</h4>
      <ul class="raw">
        {token.split('.').map((text, at) => (
          <li key={at} class={pieces[at]} hidden={text === ''}>
            <b>{isHandle ? 'handle' : pieces[at]}</b> {text.length} bytes <code>{text}</code>
          </li>
        ))}
      </ul>
      {isHandle ? (
        <p>
          The store keeps the token, which is sealed with the key <code>{keyId}</code>.
        </p>
      ) : (
        <p>
          Everything but the ID of the key, <code>{keyId}</code>, is encrypted, with AES-256-GCM.
        </p>
      )}
    </>
  );
}

/** Size of a token in a list of facts. */
export function TokenSize({ bytes }: { readonly bytes: number }): JSX.Element {
  return (
    <>
      <dt>Size</dt>
      <dd>
        <meter min={0} max={limitBytes} value={bytes} aria-label="Size of the token" /> {bytes} of{' '}
        {limitBytes} bytes
      </dd>
    </>
  );
}

type TokenContentsProps = Pick<SagaInspection, 'parts' | 'timeline'>;

/** What the key opens: the sizes of the parts, and the journal without values. */
export function TokenContents({ parts, timeline }: TokenContentsProps): JSX.Element {
  return (
    <>
      <dt>Parts</dt>
      <dd>
        {parts.map(({ part, bytes, stored }) => (
          <p key={part}>
            <b>{part}</b> {bytes} bytes{stored < bytes && `, compressed to ${stored}`}
          </p>
        ))}
      </dd>
      <dt>Journal</dt>
      <dd>
        {timeline?.length === 0 && 'empty'}
        {timeline === undefined && 'unknown: this version of the saga is not served'}
        <ul class="journal" tabIndex={0} aria-label="Journal" hidden={timeline === undefined}>
          {timeline?.map(({ path, kind, outcome, bytes }, at) => (
            <li key={at}>
              <b>{path}</b> {kind} {outcome}, {bytes} bytes
            </li>
          ))}
        </ul>
      </dd>
    </>
  );
}
