import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longestTest, longestWait } from './test/support/patience.ts';

/** The files of each kind of test. A file is of the first kind that names it. */
const kinds = {
  // Of tarballs: part of `pnpm release:check`.
  packed: ['test/packed/*.test.ts'],
  // The studio of `mcp-saga dev`, which stops code of users after 5 s by the clock: after the other
  // files of `pnpm test:site`, so that no second browser takes this time.
  studio: ['test/site/live-studio.test.ts'],
  // Build the site, and visit it in a browser: `pnpm test:site`.
  site: ['test/site/*.test.ts'],
  // Start servers, runtimes, platforms, databases, or browsers of their own: `pnpm test:system`.
  system: [
    'examples/{examples,platforms/**/*,refund-approval/postgres}.test.ts',
    'packages/{cloudflare,queues,redis,sql}/test/**/*.test.ts',
    'test/{approvals,bench,chaos,conformance,interop,pictures,quickstart,runners,runtimes}/**/*.test.ts',
    'test/compare/{asked-refund,engines}/*.test.ts',
    'test/readme/{fleet-sizes,stores}.test.ts',
  ],
  // Rules of the code base: part of `pnpm check`.
  architecture: ['test/architecture/*.test.ts'],
  // Replace a module, or globals that a module reads at import, or use the modules of an example,
  // which keep what happened: each in a process of its own.
  alone: [
    '{examples,test}/**/*.test.ts',
    'packages/seal/test/portability.test.ts',
    'packages/server/test/serving/lazy-sdk.test.ts',
    'packages/xstate/test/walk.newest.test.ts',
  ],
  // Search at length: faster in a fresh process.
  long: [
    'packages/*/test/**/*.{property,fuzz}.test.ts',
    'packages/server/test/{attacks/**/*,guards/memory,leaks,dialects/tasks-unasked}.test.ts',
  ],
  // All others.
  unit: ['packages/*/test/**/*.test.ts'],
} as const;
type Kind = keyof typeof kinds;

function project(name: Kind, options: TestProjectInlineConfiguration['test'] = {}) {
  const names = Object.keys(kinds) as Kind[];
  const earlier = names.slice(0, names.indexOf(name)).flatMap((kind) => kinds[kind]);
  return {
    extends: true as const,
    test: {
      name,
      include: [...kinds[name]],
      exclude: [...configDefaults.exclude, ...earlier],
      ...options,
    },
  };
}

/** Files that take the longest: they start first, so that nothing waits for them at the end. */
const longest = [
  'examples/platforms/platforms.test.ts',
  'test/bench/bench.test.ts',
  'test/runtimes/runtimes.test.ts',
  'test/site/site.test.ts',
  'packages/cli/test/dev.test.ts',
];

const isShort = ({ moduleId }: TestSpecification): number =>
  Number(!longest.some((path) => moduleId.endsWith(`/${path}`)));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- The sort of Vitest, not that of an array.
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => isShort(one) - isShort(other));
  }
}

// Tests that start processes wait for them: a second one goes on meanwhile, on the smallest machine
// too.
const workers = Math.max(2, availableParallelism() - 1);

// A shared process loads the packages, the SDK and zod once.
const isShared = { isolate: false } as const;

export default defineConfig({
  test: {
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
    testTimeout: longestTest,
    hookTimeout: longestTest,
    expect: { poll: { timeout: longestWait } },
    setupFiles: [
      'test/support/seed-properties.ts',
      'test/support/catch-logs.ts',
      'test/support/leave-no-listeners.ts',
    ],
    reporters: ['default', './test/support/skipped-reporter.ts'],
    // One line a file: a slow test is not a fault.
    slowTestThreshold: longestTest,
    coverage: { include: ['packages/*/src/**/*.ts'] },
    projects: [
      project('packed'),
      project('studio', { sequence: { groupOrder: 1 } }),
      project('site', { globalSetup: 'test/site/build-site.ts' }),
      // They wait for processes most of the time, and others go on meanwhile.
      project('system', { maxWorkers: 2 * workers }),
      project('architecture', isShared),
      project('alone'),
      project('long'),
      project('unit', isShared),
    ],
  },
});
