import type { JSX } from 'preact';

/** Mistake that is read aloud, if there is one. */
export function Failure({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}
