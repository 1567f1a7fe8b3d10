import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../test/support/bundle-for-node.ts';

const here = new URL('.', import.meta.url);
const stories = readdirSync(here, { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && readdirSync(new URL(`${entry.name}/`, here)).includes('client.ts'),
  )
  .map(({ name }) => name);

/** Run as their READMEs say; a bundle of the others starts faster. */
const withTsx = ['quickstart'];
beforeAll(() =>
  bundleForNode(
    ...stories
      .filter((story) => !withTsx.includes(story))
      .flatMap((story) => [`examples/${story}/client.ts`, `examples/${story}/server.ts`]),
  ),
);

describe('the examples', () => {
  it.each(stories)('%s ends with status 0, having asserted what it shows', async (story) => {
    const options = withTsx.includes(story) ? ['--import', 'tsx'] : runBundles;
    const { stdout } = await promisify(execFile)(process.execPath, [...options, 'client.ts'], {
      cwd: fileURLToPath(new URL(`${story}/`, here)),
      env: { ...process.env, NODE_ENV: 'production' },
    });
    expect(stdout).not.toBe('');
  });

  it.each(stories)('%s has a server, a client and a README', (story) => {
    const files = readdirSync(new URL(`${story}/`, here));
    expect(files).toEqual(expect.arrayContaining(['server.ts', 'client.ts', 'README.md', 'package.json']));
  });
});
