import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../../test/support/bundle-for-node.ts';

const here = new URL('.', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, here), 'utf8');
const platforms = readdirSync(here, { withFileTypes: true })
  .filter(
    (entry) => entry.isDirectory() && readdirSync(new URL(`${entry.name}/`, here)).includes('package.json'),
  )
  .map(({ name }) => name)
  // What they all serve.
  .filter((name) => name !== 'order');

// Long enough for the platform's own tool to be downloaded.
const timeout = 300_000;

/** Run as their READMEs say; a bundle of the others starts faster. */
const withTsx = ['stdio'];
beforeAll(() =>
  bundleForNode(
    'examples/platforms/node/server.ts',
    ...platforms
      .filter((platform) => !withTsx.includes(platform))
      .map((platform) => `examples/platforms/${platform}/client.ts`),
  ),
);

describe('the platforms', { timeout }, () => {
  it.each(platforms)('[P2] %s serves a saga in turns, having nothing but the key', async (platform) => {
    const options = withTsx.includes(platform) ? ['--import', 'tsx'] : runBundles;
    const { stdout } = await promisify(execFile)(process.execPath, [...options, 'client.ts'], {
      cwd: fileURLToPath(new URL(`${platform}/`, here)),
      env: { ...process.env, NODE_ENV: 'production' },
    });
    expect(stdout).not.toBe('');
  });

  it.each(platforms)('%s says how its key is set and rotated, and who its users are', (platform) => {
    const text = read(`${platform}/README.md`);
    expect(text.match(/^## .+$/gm)).toEqual(['## Key', '## Rotate', '## Principal']);
    expect(text).toContain('../../../README.md#keys');
    expect(text).toContain('tsx client.ts');
  });

  it('are the rows of the table in the README, and no others', () => {
    const section = read('../../README.md').split('### Where it runs\n')[1]?.split('\n### ')[0] ?? '';
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
    const linked = rows.map(
      (row) => /^\| \[[^\]]+\]\(examples\/platforms\/([\w-]+)\/README\.md\)/.exec(row)?.[1],
    );
    expect(linked).toHaveLength(platforms.length);
    expect(new Set(linked)).toEqual(new Set(platforms));
  });
});
