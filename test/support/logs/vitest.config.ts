import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Files that `logs.test.ts` runs, most of which fail. In one process, as those of packages. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['*.spec.ts'],
    setupFiles: ['../catch-logs.ts'],
    isolate: false,
    maxWorkers: 1,
  },
});
