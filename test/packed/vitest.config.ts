import { defineConfig } from 'vitest/config';

/** Tests of the tarballs. Part of `pnpm release:check`, not of `pnpm test`. */
export default defineConfig({
  test: { include: ['test/packed/*.test.ts'], testTimeout: 60_000, hookTimeout: 120_000 },
});
