import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Button } from './button.tsx';

type CopyButtonProps = { readonly label: string; readonly text: () => string | Promise<string> };

/** Copies a text to the clipboard, and says so. */
export function CopyButton({ label, text }: CopyButtonProps): JSX.Element {
  const said = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text());
      said.value = 'Copied';
    } catch {
      said.value = 'Not allowed by the browser';
    }
    setTimeout(() => (said.value = ''), 2_000);
  };
  return (
    <Button onClick={() => void copy()}>
      {said.value === '' ? label : said.value}
      <span class="hidden" role="status">
        {said.value}
      </span>
    </Button>
  );
}
