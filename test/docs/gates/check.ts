/**
 * `pnpm check docs`: dead links, undocumented exports, functions without a checked example, errors
 * and effects without a place.
 */
import { execFileSync } from 'node:child_process';
import { packages, repository } from '../../architecture/packages.ts';
import { read } from '../markdown.ts';
import { documentedNames, undocumented } from './docstrings.ts';
import { checkExamples } from './examples.ts';
import { deadLinks } from './links.ts';
import { codesWithoutAnchor, effectsWithoutExample } from './reference.ts';

const problems = new Map<string, string[]>();
const report = (part: string, found: readonly string[]): void => {
  problems.set(part, [...(problems.get(part) ?? []), ...found]);
};

const documented = packages.flatMap(documentedNames);
for (const name of packages) {
  report(`packages/${name}`, undocumented(documented.filter((one) => one.package === name)));
  report(
    `packages/${name}`,
    codesWithoutAnchor(name).map((code) => `no anchor in docs/reference/errors.md: ${code}`),
  );
}
for (const [name, found] of await checkExamples(documented)) report(`packages/${name}`, found);
report(
  'docs/reference/effects',
  effectsWithoutExample().map((name) => `no example: ${name}`),
);
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
for (const page of execFileSync('git', list, { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter(Boolean))
  report(
    'links',
    deadLinks(page, read(page)).map((link) => `${page}: ${link}`),
  );

for (const [part, found] of problems) {
  console.log(
    `${found.length === 0 ? 'ok  ' : 'FAIL'} ${part}${found.length === 0 ? '' : `: ${found.length}`}`,
  );
  for (const problem of found) console.log(`     ${problem}`);
  if (found.length > 0) process.exitCode = 1;
}
