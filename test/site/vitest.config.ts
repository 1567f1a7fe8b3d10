import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longestWaitMs } from './longest-wait.ts';

/** Starts the visit of the site first: it takes the longest. */
class SiteFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSite = ({ moduleId }: TestSpecification): number =>
      Number(moduleId.endsWith('/site.test.ts'));
    return Promise.resolve(files.toSorted((one, other) => isSite(other) - isSite(one)));
  }
}

/** `pnpm test:site`: builds the site and visits it. Not part of `pnpm test`. */
export default defineConfig({
  test: {
    include: ['test/site/*.test.ts'],
    globalSetup: fileURLToPath(new URL('build-site.ts', import.meta.url)),
    // While one file waits for its builds or its pages, the other one uses the second core.
    maxWorkers: 2,
    sequence: { sequencer: SiteFirst },
    // Longer than the longest wait, whose error names what is missing.
    testTimeout: 2 * longestWaitMs,
    hookTimeout: 2 * longestWaitMs,
    expect: { poll: { timeout: longestWaitMs } },
  },
});
