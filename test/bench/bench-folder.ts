import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the bench, from the source and from what is bundled of it: both lie somewhere below. */
export function benchFolder(): string {
  const here = fileURLToPath(import.meta.url);
  const name = join('test', 'bench');
  return here.slice(0, here.lastIndexOf(name) + name.length);
}
