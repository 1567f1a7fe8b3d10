import { describe, it } from 'vitest';

/**
 * Declares tests with a requirement that not every machine meets. Without it, the tests are skipped
 * with a name that gives the reason, but fail in CI.
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
  } else describe.skip(`${name} (skipped: ${missing})`, tests);
}

function isCi(): boolean {
  return !['', 'false', undefined].includes(process.env['CI']);
}
