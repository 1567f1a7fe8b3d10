import type { JSX } from 'preact';
import { CopyButton } from './controls.tsx';

/**
 * `all`: what every link contains. `bare`: what a link without values does. `link` makes a link,
 * with or without the values.
 */
type ShareMenuProps = Readonly<Record<'all' | 'bare' | 'values', string>> & {
  readonly link: (hasValues: boolean) => Promise<string>;
};

/** Makes links to the code and the run. The link without values is the first choice. */
export function ShareMenu({ all, bare, values, link }: ShareMenuProps): JSX.Element {
  return (
    <details class="share">
      <summary>Share</summary>
      <div>
        <p>{all}</p>
        <CopyButton label="Copy link" text={async () => await link(false)} />
        <p>{bare}</p>
        <CopyButton label={`Copy link with ${values}`} text={async () => await link(true)} />
        <p>Anyone with the link can read the {values}.</p>
      </div>
    </details>
  );
}
