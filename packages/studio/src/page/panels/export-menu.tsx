import type { ComponentChildren, JSX } from 'preact';

/** Text of a file, or undefined after a failure that the page shows. */
type Contents = string | undefined | Promise<string | undefined>;

interface ExportMenuProps {
  readonly files: readonly {
    readonly label: string;
    readonly name: string;
    readonly contents: () => Contents;
  }[];
  readonly children?: ComponentChildren;
}

/** Saves a run as files. */
export function ExportMenu({ files, children }: ExportMenuProps): JSX.Element {
  return (
    <details class="test">
      <summary>Export</summary>
      <div class="buttons">
        {files.map(({ label, name, contents }) => (
          <button key={name} type="button" onClick={() => void save(name, contents)}>
            {label}
          </button>
        ))}
      </div>
      {children}
    </details>
  );
}

async function save(name: string, contents: () => Contents): Promise<void> {
  const text = await contents();
  if (text === undefined) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
