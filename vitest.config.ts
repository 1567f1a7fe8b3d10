import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests of packages that replace a module, or what a module finds when it is loaded. */
const replacing = ['packages/seal/test/portability.test.ts', 'packages/xstate/test/walk.newest.test.ts'];
const packages = 'packages/*/test/**/*.test.ts';

export default defineConfig({
  test: {
    // Those that start processes wait for them much of the time: a second one goes on meanwhile, on the smallest machine too.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 120_000,
    coverage: { include: ['packages/*/src/**/*.ts'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'isolated',
          include: [...replacing, 'examples/**/*.test.ts', 'test/**/*.test.ts'],
        },
      },
      // Many small files: the process they share loads the packages, the SDK and zod once.
      { extends: true, test: { name: 'packages', include: [packages], exclude: replacing, isolate: false } },
    ],
  },
});
