import type { JSX } from 'preact';

/** Asks before the code of a link runs. */
export function Consent({ onRun }: { readonly onRun: () => unknown }): JSX.Element {
  return (
    <section class="consent" aria-label="Code of a link">
      <p>
        This link contains code from another person. The code runs in this page, without access to the network
        or to your files. Read it first.
      </p>
      <button type="button" class="primary" onClick={() => void onRun()}>
        Run this code
      </button>
    </section>
  );
}
