import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Finds Chromium on PATH. Undefined if it is missing. */
export function findChromium(path: string = process.env['PATH'] ?? ''): string | undefined {
  const files = path.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return files.find(isExecutable);
}

/** Says in words that this machine has no Chromium. Undefined if it has one. */
export function missingChromium(): string | undefined {
  if (findChromium() !== undefined) return undefined;
  return 'there is no Chromium on PATH (apt-get install chromium)';
}

function isExecutable(file: string): boolean {
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
