import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

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
    // The pages of the playground are visited while the site is built.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: SiteFirst },
    testTimeout: 300_000,
    hookTimeout: 1_200_000,
  },
});
