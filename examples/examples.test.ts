import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../test/support/bundle-for-node.ts';

const here = new URL('.', import.meta.url);
const stories = readdirSync(here, { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() && readdirSync(new URL(`${entry.name}/`, here)).includes('client.ts'),
  )
  .map(({ name }) => name);

/** Examples that run as their READMEs say. The others start faster as a bundle. */
const withTsx = ['quickstart'];
beforeAll(() =>
  bundleForNode(
    ...stories
      .filter((story) => !withTsx.includes(story))
      .flatMap((story) =>
        ['client.ts', 'server.ts', 'caller.ts']
          .filter((program) => existsSync(new URL(`${story}/${program}`, here)))
          .map((program) => `examples/${story}/${program}`),
      ),
  ),
);

describe('the examples', () => {
  it.each(stories)('%s passes its assertions, and ends with status 0', async (story) => {
    const options = withTsx.includes(story) ? ['--import', 'tsx'] : runBundles;
    const { stdout } = await promisify(execFile)(process.execPath, [...options, 'client.ts'], {
      cwd: fileURLToPath(new URL(`${story}/`, here)),
      env: { ...process.env, NODE_ENV: 'production', DATABASE_URL: '' },
    });
    expect(stdout).not.toBe('');
  });

  it.each(stories)('%s has a server, a client and a README', (story) => {
    const files = readdirSync(new URL(`${story}/`, here));
    expect(files).toEqual(
      expect.arrayContaining(['server.ts', 'client.ts', 'README.md', 'package.json']),
    );
  });
});
