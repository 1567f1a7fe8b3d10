import { describe, it } from 'vitest';

/**
 * Tests that need something which not every machine has. Where it is missing they are skipped, by a name that says so;
 * in CI they fail.
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
