import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { system } from './vitest.system.config.ts';

/** Package tests that run in separate processes. */
const alone = [
  // Replace a module, or globals that a module reads at import.
  'packages/seal/test/portability.test.ts',
  'packages/server/test/serving/lazy-sdk.test.ts',
  'packages/xstate/test/walk.newest.test.ts',
  // Run long: faster in a fresh process, and started first.
  'packages/*/test/**/*.property.test.ts',
];
const packages = 'packages/*/test/**/*.test.ts';

export default defineConfig({
  test: {
    // Those that start processes wait for them much of the time: a second one goes on meanwhile, on
    // the smallest machine too.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Polls wait for a condition, however slow the machine is.
    expect: { poll: { timeout: 50_000 } },
    setupFiles: ['test/support/seed-properties.ts'],
    coverage: { include: ['packages/*/src/**/*.ts'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'isolated',
          include: [...alone, 'examples/**/*.test.ts', 'test/**/*.test.ts'],
          // `pnpm test:system`, `test:site`, and `release:check` run these.
          exclude: [...configDefaults.exclude, ...system, 'test/site/**', 'test/packed/**'],
        },
      },
      // Many small files: a shared process loads the packages, the SDK and zod once.
      {
        extends: true,
        test: {
          name: 'shared',
          include: [packages],
          exclude: [...alone, ...system],
          isolate: false,
        },
      },
    ],
  },
});
