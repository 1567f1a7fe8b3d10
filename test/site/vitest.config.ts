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
    // One file at a time. The playground stops code that does not end within 5 s, which is what good
    // code needs if two browsers share the cores of a small machine.
    maxWorkers: 1,
    sequence: { sequencer: SiteFirst },
    testTimeout: 300_000,
    hookTimeout: 1_200_000,
  },
});
