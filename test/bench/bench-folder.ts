import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the bench, also when the code runs from a bundle in a subfolder. */
export function benchFolder(): string {
  const here = fileURLToPath(import.meta.url);
  const name = join('test', 'bench');
  return here.slice(0, here.lastIndexOf(name) + name.length);
}
