import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { CopyButton, Fold, Shown } from '../parts/controls.tsx';
import type { OpenLink } from './lanes.ts';

/** Link of an approval as a QR code, or why a phone cannot open it. */
export function PhoneLink({ id, url }: OpenLink): JSX.Element {
  const { hostname } = new URL(url);
  const isLocal = /^(?:localhost|127\..*|\[::1\])$/.test(hostname);
  return (
    <div class="phone">
      <Fold
        summary={
          <>
            Answer <Shown text={id} /> on a phone
          </>
        }
      >
        {isLocal ? (
          <p>
            Only this machine reaches the link. For a phone, start a tunnel to the port after that
            of this page, and <code>mcp-saga dev</code> with <code>--answers-url</code> and the
            address of the tunnel. That port has answer pages, and nothing else.
          </p>
        ) : (
          <>
            <QrCode text={url} label={`QR code of the link of ${id}`} />
            <p>
              A phone that reaches <code>{hostname}</code> opens the page. Whoever has the link can
              answer.
            </p>
          </>
        )}
        <CopyButton label="Copy the link" text={() => url} />
      </Fold>
    </div>
  );
}

/** Empty modules around a code, without which phones do not find it. */
const border = 4;

function QrCode({ text, label }: Readonly<Record<'text' | 'label', string>>): JSX.Element | null {
  const rows = useSignal<readonly (readonly boolean[])[]>([]);
  useEffect(() => {
    // Most sagas have no link, and load no code for it.
    void import('uqr').then(({ encode }) => (rows.value = encode(text, { border }).data));
  }, [text]);
  const { value: drawn } = rows;
  if (drawn.length === 0) return null;
  const path = drawn.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${drawn.length} ${drawn.length}`}>
      <path d={path.join('')} />
    </svg>
  );
}
