import type { JSX } from 'preact';
import { CopyButton } from './copy-button.tsx';

interface ShareMenuProps {
  /** Makes the link, with or without the values of the answers. */
  readonly link: (hasValues: boolean) => Promise<string>;
}

/** Makes links to the code and the run. The link without values is the first choice. */
export function ShareMenu({ link }: ShareMenuProps): JSX.Element {
  return (
    <details class="share">
      <summary>Share</summary>
      <div>
        <p>Every link contains the code in the editor, and the answered questions.</p>
        <CopyButton label="Copy link" text={async () => await link(false)} />
        <p>Placeholders stand for the answers.</p>
        <CopyButton label="Copy link with answers" text={async () => await link(true)} />
        <p>Anyone with the link can read the answers.</p>
      </div>
    </details>
  );
}
