import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** `pnpm test:site`: builds the site and visits it. Not part of `pnpm test`. */
export default defineConfig({
  test: {
    include: ['test/site/*.test.ts'],
    globalSetup: fileURLToPath(new URL('build-site.ts', import.meta.url)),
    // The pages of the playground are visited while the site is built.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 120_000,
    hookTimeout: 600_000,
  },
});
