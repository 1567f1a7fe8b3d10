import { defineConfig } from 'vitest/config';

/**
 * Unit tests of core, seal, and server: no property tests, no attacks, no processes. Under a minute
 * on two cores.
 */
export default defineConfig({
  test: {
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    // Polls wait for a condition, however slow the machine is.
    expect: { poll: { timeout: 50_000 } },
    include: ['packages/{core,seal,server}/test/**/*.test.ts'],
    exclude: [
      '**/*.{property,fuzz}.test.ts',
      // Replace a module, or globals that a module reads at import.
      'packages/seal/test/portability.test.ts',
      'packages/server/test/serving/lazy-sdk.test.ts',
      // Compile code, or search at length.
      'packages/core/test/types.test.ts',
      'packages/server/test/attacks/**',
      'packages/server/test/guards/memory.test.ts',
      'packages/server/test/leaks.test.ts',
      'packages/server/test/dialects/tasks-unasked.test.ts',
    ],
  },
});
