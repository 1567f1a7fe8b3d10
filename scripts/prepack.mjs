// Removes the last build before a package is packed, so that no file of a deleted source is published.
import { rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
