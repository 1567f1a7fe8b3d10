import { defineConfig } from 'vitest/config';

/**
 * Tests that start servers, runtimes, platforms, databases, or browsers of their own:
 * `pnpm test:system`.
 */
export const system = [
  'examples/{examples,platforms/**/*,refund-approval/postgres}.test.ts',
  'packages/{cloudflare,queues,redis,sql}/test/**/*.test.ts',
  'test/{approvals,bench,chaos,conformance,interop,pictures,quickstart,runners,runtimes}/**/*.test.ts',
  'test/readme/{fleet-sizes,stores}.test.ts',
];

export default defineConfig({
  test: {
    include: system,
    setupFiles: ['test/support/seed-properties.ts'],
    // They wait for their processes much of the time: a second one goes on meanwhile.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Polls wait for a condition, however slow the machine is.
    expect: { poll: { timeout: 50_000 } },
  },
});
