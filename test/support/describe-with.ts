import { describe, it } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Of tests that were skipped, for `SkippedReporter`. */
    skipped?: { readonly name: string; readonly missing: string };
  }
}

/**
 * Declares tests with a requirement that not every machine meets. Without it, the tests are skipped
 * with a name that gives the reason, and the end of the run lists them; but they fail in CI.
 *
 * @param missing - what is missing, in words; undefined where nothing is
 */
export function describeWith(name: string, missing: string | undefined, tests: () => void): void {
  if (missing === undefined) describe(name, tests);
  else if (isCi()) {
    describe(name, () => {
      it('is tested in CI', () => {
        throw new Error(missing);
      });
    });
  } else {
    const meta = { skipped: { name, missing } };
    describe.skip(`${name} (skipped: ${missing})`, { meta }, tests);
  }
}

function isCi(): boolean {
  return !['', 'false', undefined].includes(process.env['CI']);
}
