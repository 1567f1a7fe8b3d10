import { svgOf } from '@mcp-saga/testing/internal';
import type { JSX, RenderableProps } from 'preact';
import type { Lane } from '../../model/view.ts';
import { Button, CopyButton } from '../../parts/controls.tsx';

/** `name`: of the file of the picture. */
type ExportMenuProps = RenderableProps<
  Readonly<Record<'name' | 'title', string>> & { readonly run: Pick<Lane, 'entries' | 'test'> }
>;

/** Saves a run as files, by other buttons, too, and shows its test. */
export function ExportMenu({
  name,
  title,
  run: { entries, test },
  children,
}: ExportMenuProps): JSX.Element {
  return (
    <details class="test">
      <summary>Export</summary>
      <div class="buttons">
        <Button onClick={() => save(`${name}.svg`, svgOf(title, entries))}>Diagram as SVG</Button>
        {children}
      </div>
      {test !== undefined && (
        <>
          <p>A Vitest test. Save it next to the files of the editor:</p>
          <CopyButton label="Copy test" text={() => test} />
          <pre tabIndex={0} role="region" aria-label="Test">
            {test}
          </pre>
        </>
      )}
    </details>
  );
}

/** Saves a file. The text is undefined after a failure that the page shows. */
export function save(name: string, text: string | undefined): void {
  if (text === undefined) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
