import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleForNode, runBundles } from '../../test/support/bundle-for-node.ts';
import { startFakeUpstash } from '../../test/support/fake-upstash.ts';
import { describeWithPostgres, startPostgres } from '../../test/support/postgres-server.ts';
import { describeWithRedis, startRedis } from '../../test/support/redis-server.ts';

const here = new URL('.', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, here), 'utf8');
const platforms = readdirSync(here, { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() && readdirSync(new URL(`${entry.name}/`, here)).includes('package.json'),
  )
  .map(({ name }) => name)
  // The saga of all platforms.
  .filter((name) => name !== 'order');

// Long enough to download the tool of the platform.

// They start faster as bundles. The client of `stdio` starts its first server with tsx nevertheless,
// as the configuration of the README says.
beforeAll(() =>
  bundleForNode(
    'examples/platforms/node/server.ts',
    'examples/platforms/stdio/server.ts',
    ...platforms.map((platform) => `examples/platforms/${platform}/client.ts`),
  ),
);

interface Variables {
  readonly [name: string]: string;
}

/** Starts a store for one test. Returns the variables that name the store. */
const stores: { readonly [store: string]: () => Promise<Variables> } = {
  Redis: async () => {
    const server = await startRedis();
    onTestFinished(() => server.kill());
    return { REDIS_URL: server.url };
  },
  Upstash: async () => {
    const server = await startRedis();
    const { url, token, close } = await startFakeUpstash(server.url);
    onTestFinished(async () => {
      close();
      await server.kill();
    });
    return { KV_REST_API_URL: url, KV_REST_API_TOKEN: token };
  },
  PostgreSQL: async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    return { DATABASE_URL: server.url };
  },
};

/** Stores of each platform, in the order of the table in the docs. */
const storesOf: { readonly [platform: string]: readonly string[] } = {
  node: ['Redis', 'PostgreSQL'],
  bun: ['Redis', 'PostgreSQL'],
  deno: ['Redis', 'PostgreSQL'],
  vercel: ['Upstash'],
  'aws-lambda': ['PostgreSQL'],
  stdio: [],
};

const noStore: Variables = {
  REDIS_URL: '',
  DATABASE_URL: '',
  KV_REST_API_URL: '',
  UPSTASH_REDIS_REST_URL: '',
};

/** Runs the client of a platform, which starts servers and asserts. Returns the output. */
async function runClient(platform: string, store: Variables): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...runBundles, 'client.ts'], {
    cwd: fileURLToPath(new URL(`${platform}/`, here)),
    env: { ...process.env, NODE_ENV: 'production', ...noStore, ...store },
  });
  return stdout;
}

const pairsWith = (wanted: (store: string) => boolean) =>
  Object.entries(storesOf).flatMap(([platform, names]) =>
    names.filter(wanted).map((store) => [platform, store] as const),
  );

const shared = '[T13] [P2] %s refuses a used token at another process, by %s';

async function expectShared(platform: string, store: string): Promise<void> {
  expect(await runClient(platform, (await stores[store]?.()) ?? {})).toContain(
    'a used token was refused',
  );
}

describeWithPostgres('the platforms that share PostgreSQL', () => {
  it.each(pairsWith((store) => store === 'PostgreSQL'))(shared, expectShared);
});

describeWithRedis('the platforms that share Redis', () => {
  it.each(pairsWith((store) => store !== 'PostgreSQL'))(shared, expectShared);
});

describe('the platforms', () => {
  it.each(platforms)(
    '[P2] %s serves a saga in turns, with only the key shared',
    async (platform) => {
      expect(await runClient(platform, {})).not.toBe('');
    },
  );

  it.each(platforms)('%s describes key, rotation, and users in the README', (platform) => {
    const text = read(`${platform}/README.md`);
    expect(text.match(/^## .+$/gm)).toEqual(['## Key', '## Rotate', '## Principal']);
    expect(text).toContain('../../../docs/operate/keys.md');
    expect(text).toContain('tsx client.ts');
  });

  it('have one row in the table of the docs, each with a page', () => {
    const rows = read('../../docs/operate/index.md').matchAll(/^\| \[[^\]]+\]\(([\w-]+)\.md\)/gm);
    const linked = [...rows].map(([, name]) => name ?? '');
    expect(linked.toSorted()).toEqual(platforms.toSorted());
    for (const name of linked) expect(read(`../../docs/operate/${name}.md`)).toMatch(/^# /m);
  });

  it.each(Object.entries(storesOf))(
    '%s has its stores in the table, and a section of the page',
    (platform, names) => {
      const row = read('../../docs/operate/index.md')
        .split('\n')
        .find((line) => line.includes(`](${platform}.md)`));
      const cell = row?.split(' | ')[4] ?? '';
      expect([...cell.matchAll(/\[([^\]]+)\]/g)].map(([, name]) => name)).toEqual(names);
      const page = read(`../../docs/operate/${platform}.md`);
      if (names.length > 0) expect(page).toMatch(/^## Store$/m);
      for (const name of names) expect(page).toContain(name);
    },
  );
});
