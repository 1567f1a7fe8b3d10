import type { ComponentChildren, JSX } from 'preact';
import { Button } from './controls.tsx';

type ConsentProps = { readonly onRun: () => unknown; readonly effects?: ComponentChildren };

/** Asks before the code of a link runs, or code whose steps may have real effects. */
export function Consent({ onRun, effects }: ConsentProps): JSX.Element {
  return (
    <section class="consent" aria-label={effects === undefined ? 'Code of a link' : 'Effects'}>
      <p>
        {effects ??
          'This link contains code from another person. The code runs in this page, without access to the network or to your files. Read the code first.'}
      </p>
      <Button class="primary" onClick={() => void onRun()}>
        Run this code
      </Button>
    </section>
  );
}
