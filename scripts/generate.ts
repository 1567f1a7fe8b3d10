/**
 * `pnpm generate [NAME …]` writes the files that follow from the code, and that tests compare with
 * it. Without a name: all that change with the code, which are `api`, `schema`, `regions`, and
 * `matrix`.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const parts: Readonly<Record<string, string>> = {
  /** Public names and signatures of each package, in `etc`. */
  api: 'test/architecture/write-api.ts',
  /** `docs/spec/schema.json`, from the types of the saga methods. */
  schema: 'test/docs/spec/write-schema.ts',
  /** The code of each region, in the pages that show it. */
  regions: 'test/docs/write-regions.ts',
  /** The crash matrix of the front page, from a run. */
  matrix: 'test/docs/front/write-matrix.ts',
  /** The recording of the quickstart, and the badge of the matrix. */
  recording: 'test/quickstart/record.ts',
  /** A set of golden tokens: `pnpm generate golden VERSION`. */
  golden: 'test/golden/add.ts',
};

const [first, ...rest] = process.argv.slice(2);
const run = (name: string, ...args: readonly string[]): void => {
  const file = parts[name];
  if (file === undefined)
    throw new Error(`There is no '${name}' to generate: ${Object.keys(parts).join(', ')}`);
  execFileSync(process.execPath, ['--import', 'tsx', file, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
};
if (first === 'golden') run(first, ...rest);
else
  for (const name of first === undefined
    ? ['api', 'schema', 'regions', 'matrix']
    : [first, ...rest])
    run(name);
