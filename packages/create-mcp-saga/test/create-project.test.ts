import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createProject } from 'create-mcp-saga';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import plugin from '@mcp-saga/eslint-plugin';
import { readFlags } from '../src/flags.ts';
import { ownManifest, type Manifest } from '../src/package-json.ts';
import { withDefaults } from '../src/prompts.ts';
import { templateNames, type Language, type TemplateName } from '../src/templates.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'create-mcp-saga-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const read = (...path: readonly string[]): Promise<string> =>
  readFile(join(folder, ...path), 'utf8');

/** Runs the command line without a terminal. */
async function run(...args: readonly string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const code = await main(args, {
    isInteractive: false,
    print: (text) => printed.push(text),
    printError: (text) => errors.push(text),
    userAgent: 'pnpm/12.21.0 npm/? node/v20.19.0',
  });
  return { code, printed: printed.join('\n'), errors: errors.join('\n') };
}

it('creates a project from code', async () => {
  const work = process.cwd();
  process.chdir(folder);
  try {
    // #region create
    const { files } = await createProject({
      template: 'node',
      language: 'typescript',
      dir: 'invoices',
    });
    // #endregion create
    expect(files).toContain('server.ts');
  } finally {
    process.chdir(work);
  }
  expect(JSON.parse(await read('invoices/package.json'))).toMatchObject({
    name: 'invoices',
    type: 'module',
  });
});

const languages: readonly Language[] = ['typescript', 'javascript'];
const cases = templateNames.flatMap((template) =>
  languages.map((language) => ({ template, language })),
);

describe.each(cases)('the template $template in $language', ({ template, language }) => {
  async function create(): Promise<ReadonlyMap<string, string>> {
    if (template === 'existing-server')
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const { files } = await createProject({ template, language, dir: folder, name: 'invoices' });
    return new Map(await Promise.all(files.map(async (file) => [file, await read(file)] as const)));
  }

  it('has a saga and its test in that language only', async () => {
    const paths = [...(await create()).keys()];
    const extension = language === 'typescript' ? 'ts' : 'js';
    const other = language === 'typescript' ? /\.js$/ : /\.ts$|tsconfig/;
    expect(paths.some((path) => path.endsWith(`send-invoice.${extension}`))).toBe(true);
    expect(paths.some((path) => path.endsWith(`send-invoice.test.${extension}`))).toBe(true);
    expect(paths.filter((path) => other.test(path))).toEqual([]);
  });

  it('has a script that shows its saga in a page, with the keys of the project', async () => {
    const files = await create();
    const { scripts }: Manifest = JSON.parse(files.get('package.json') ?? '');
    if (template === 'existing-server') return expect(scripts).not.toHaveProperty('dev');
    const [, file = '', keysFile = ''] =
      /^npx -y mcp-saga dev (\S+) --env-file=(\S+)$/.exec(scripts?.['dev'] ?? '') ?? [];
    const served =
      template === 'vercel' ? 'export default serveSagas({' : 'export const sendInvoice = saga(';
    expect(files.get(file)).toContain(served);
    expect(files.get(keysFile)).toContain('SAGA_KEYS=');
  });

  it('has the lint plugin, with settings that name every rule of it', async () => {
    const files = await create();
    const path = template === 'existing-server' ? 'sagas/.oxlintrc.json' : '.oxlintrc.json';
    const { jsPlugins, rules } = JSON.parse(files.get(path) ?? '');
    expect(jsPlugins).toEqual(['@mcp-saga/eslint-plugin']);
    const recommended = plugin.configs.recommended.rules;
    expect(rules).toEqual(recommended);
    const { devDependencies, scripts }: Manifest = JSON.parse(files.get('package.json') ?? '');
    expect(devDependencies).toMatchObject({
      '@mcp-saga/eslint-plugin': expect.any(String),
      oxlint: expect.any(String),
    });
    if (template !== 'existing-server') expect(scripts).toHaveProperty('lint', 'oxlint');
  });

  it('has its name everywhere, and refers only to its own files', async () => {
    const files = await create();
    const text = [...files.values()].join('\n');
    expect(text).not.toContain('mcp-saga-project');
    const settings = [...files].filter(([path]) => /\.(?:jsonc|yaml)$/.test(path));
    for (const [, setting] of settings)
      for (const [named] of setting.matchAll(/\b[\w-]+\.[tj]s\b/g))
        expect([...files.keys()]).toContain(named);
  });
});

it.each(languages)(
  'gives a Worker in %s a store, and exports the class of its Durable Objects',
  async (language) => {
    await createProject({ template: 'cloudflare-workers', language, dir: join(folder, 'worker') });
    const worker = await read(`worker/worker.${language === 'typescript' ? 'ts' : 'js'}`);
    const settings = await read('worker/wrangler.jsonc');
    const [, binding = '?', exported = '?'] =
      /"name": "(\w+)", "class_name": "(\w+)"/.exec(settings) ?? [];
    expect(settings).toContain(`"new_sqlite_classes": ["${exported}"]`);
    expect(worker).toContain(`export const ${exported} = createSagaObject()`);
    expect(worker).toContain(`store: durableObjectStore(env.${binding})`);
    const { dependencies }: Manifest = JSON.parse(await read('worker/package.json'));
    expect(dependencies).toHaveProperty(['@mcp-saga/cloudflare']);
  },
);

it('writes a new key, readable by its owner only, into a file that git ignores', async () => {
  await createProject({ template: 'node', language: 'javascript', dir: join(folder, 'a') });
  await createProject({ template: 'node', language: 'javascript', dir: join(folder, 'b') });
  expect(await read('a/.env')).toMatch(/^SAGA_KEYS=k1:[\w-]{43}\n/);
  expect(await read('a/.env')).not.toBe(await read('b/.env'));
  expect((await stat(join(folder, 'a/.env'))).mode & 0o077).toBe(0);
  expect(await read('a/.gitignore')).toMatch(/^\.env$/m);
});

describe('an existing project', () => {
  it('keeps its scripts and versions', async () => {
    const manifest = { scripts: { test: 'jest' }, dependencies: { zod: '4.0.0' } };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await createProject({
      template: 'existing-server',
      language: 'typescript',
      dir: folder,
      name: 'shop',
    });
    const extended: unknown = JSON.parse(await read('package.json'));
    expect(extended).toMatchObject({
      scripts: { test: 'jest' },
      dependencies: { zod: '4.0.0', '@mcp-saga/server': expect.any(String) },
    });
  });

  it('gets files that are modules by their names, if its package.json makes others CommonJS', async () => {
    // What `npm init -y` writes.
    const test = 'echo "Error: no test specified" && exit 1';
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ type: 'commonjs', scripts: { test } }),
    );
    const { code, printed } = await run(folder, '-t', 'existing-server', '-l', 'js');
    expect(code).toBe(0);
    expect((await readdir(join(folder, 'sagas'))).toSorted()).toEqual([
      '.oxlintrc.json',
      'host.mjs',
      'send-invoice.mjs',
      'send-invoice.test.mjs',
    ]);
    expect(await read('sagas/host.mjs')).toContain("from './send-invoice.mjs'");
    expect(printed).toContain("const { sagas } = require('./sagas/host.mjs');");
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      type: 'commonjs',
      scripts: { test: 'vitest run' },
    });
  });

  it.each([
    ['commonjs', './sagas/host.mjs', 'host.mts'],
    ['module', './sagas/host.js', 'host.ts'],
  ])('in TypeScript of type %s imports the sagas from %s', async (type, specifier, file) => {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type }));
    const { printed } = await run(folder, '-t', 'existing-server', '-l', 'ts');
    expect(printed).toContain(`import { sagas } from '${specifier}';`);
    expect(await readdir(join(folder, 'sagas'))).toContain(file);
  });

  it('keeps its files, and nothing is written if a file already exists', async () => {
    await writeFile(join(folder, 'package.json'), '{}');
    await mkdir(join(folder, 'sagas'));
    await writeFile(join(folder, 'sagas/host.mjs'), 'mine');
    const creating = createProject({
      template: 'existing-server',
      language: 'javascript',
      dir: folder,
      name: 'shop',
    });
    await expect(creating).rejects.toMatchObject({ code: 'file_exists' });
    expect(await readdir(join(folder, 'sagas'))).toEqual(['host.mjs']);
    expect(await read('package.json')).toBe('{}');
  });

  it('requires a package.json', async () => {
    const creating = createProject({
      template: 'existing-server',
      language: 'javascript',
      dir: folder,
      name: 'shop',
    });
    await expect(creating).rejects.toMatchObject({ code: 'no_package' });
  });
});

describe('the packages of a clone', () => {
  /** Writes a tarball with a package.json, after another file. */
  async function pack(dir: string, manifest: Manifest & { readonly name: string }): Promise<void> {
    const entry = (path: string, text: string): Buffer => {
      const size = Buffer.byteLength(text);
      const bytes = Buffer.alloc(512 + Math.ceil(size / 512) * 512);
      bytes.write(path, 0);
      bytes.write(`${size.toString(8).padStart(11, '0')} `, 124);
      bytes.write(text, 512);
      return bytes;
    };
    const archive = [
      entry('package/LICENSE', 'MIT\n'.repeat(200)),
      entry('package/package.json', JSON.stringify({ version: '0.1.0', ...manifest })),
    ];
    const file = `${manifest.name.replace('@', '').replace('/', '-')}-0.1.0.tgz`;
    await writeFile(join(dir, file), gzipSync(Buffer.concat(archive)));
  }

  async function packAll(dir: string): Promise<void> {
    await mkdir(dir);
    const seal = '@mcp-saga/seal';
    const server = '@mcp-saga/server';
    await pack(dir, { name: seal });
    await pack(dir, { name: server, dependencies: { [seal]: '^0.1.0', ajv: '^8.0.0' } });
    await pack(dir, { name: '@mcp-saga/testing', dependencies: { [server]: '^0.1.0' } });
    await pack(dir, { name: '@mcp-saga/eslint-plugin' });
    await pack(dir, { name: '@mcp-saga/redis' });
    await pack(dir, { name: 'mcp-saga', dependencies: { 'create-mcp-saga': '^0.1.0' } });
    const { devDependencies: sources } = ownManifest();
    const devDependencies = Object.fromEntries(
      Object.keys(sources ?? {}).map((name) => [name, '^1.2.3']),
    );
    await pack(dir, { name: 'create-mcp-saga', devDependencies });
  }

  it('are copied into the project, with those that they depend on, and installed from there', async () => {
    await packAll(join(folder, 'tarballs'));
    const { code } = await run(join(folder, 'new'), '--packages', join(folder, 'tarballs'));
    expect(code).toBe(0);
    const { scripts, dependencies, devDependencies }: Manifest = JSON.parse(
      await read('new/package.json'),
    );
    const file = (name: string): string => `file:mcp-saga-packages/${name}-0.1.0.tgz`;
    expect(dependencies).toEqual({
      '@mcp-saga/seal': file('mcp-saga-seal'),
      '@mcp-saga/server': file('mcp-saga-server'),
      '@modelcontextprotocol/server': '^1.2.3',
      srvx: '^1.2.3',
      zod: '^1.2.3',
    });
    expect(devDependencies).toMatchObject({
      'mcp-saga': file('mcp-saga'),
      'create-mcp-saga': file('create-mcp-saga'),
      vitest: '^1.2.3',
    });
    expect(scripts?.['dev']).toMatch(/^mcp-saga dev /);
    const copied = await readdir(join(folder, 'new/mcp-saga-packages'));
    expect(copied).toHaveLength(6);
    expect(copied.filter((name) => name.includes('redis'))).toEqual([]);
  });

  it('are named in the settings of pnpm, which would ask npm for some of them', async () => {
    await packAll(join(folder, 'tarballs'));
    await createProject({
      template: 'node',
      language: 'typescript',
      dir: join(folder, 'new'),
      packages: join(folder, 'tarballs'),
      isForPnpm: true,
    });
    expect(await read('new/pnpm-workspace.yaml')).toContain(
      "  '@mcp-saga/seal': file:mcp-saga-packages/mcp-saga-seal-0.1.0.tgz\n",
    );
  });

  it('are packed by a script of the clone', async () => {
    await mkdir(join(folder, 'clone/scripts'), { recursive: true });
    await packAll(join(folder, 'tarballs'));
    await writeFile(
      join(folder, 'clone/scripts/pack.mjs'),
      `import { cpSync } from 'node:fs';
       cpSync(${JSON.stringify(join(folder, 'tarballs'))}, process.argv[2], { recursive: true });`,
    );
    const { code } = await run(join(folder, 'new'), '-p', join(folder, 'clone'));
    expect(code).toBe(0);
    expect(await readdir(join(folder, 'new/mcp-saga-packages'))).toContain('mcp-saga-0.1.0.tgz');
  });

  it('make a project beside the clone, unless a folder is given', () => {
    const flags = readFlags(['--packages', join('..', 'mcp-saga')]);
    expect(withDefaults(flags)).toMatchObject({ dir: join('..', 'my-sagas') });
  });

  it('are refused with the reason if the folder has none, or cannot pack them', async () => {
    await mkdir(join(folder, 'empty'));
    for (const name of ['empty', 'missing'])
      expect(await run(join(folder, 'new'), '-p', join(folder, name))).toMatchObject({
        code: 1,
        errors: expect.stringContaining('neither a clone of mcp-saga nor a folder'),
      });
    await mkdir(join(folder, 'clone/scripts'), { recursive: true });
    await writeFile(join(folder, 'clone/scripts/pack.mjs'), 'throw new Error("no esbuild")');
    const failing = await run(join(folder, 'new'), '-p', join(folder, 'clone'));
    expect(failing).toMatchObject({ code: 1, errors: expect.stringContaining('no esbuild') });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });
});

describe('the command line', () => {
  it('creates the default project without a terminal, and prints the next steps', async () => {
    const { code, printed } = await run(join(folder, 'My Sagas'), '--', '--yes');
    expect(code).toBe(0);
    expect(JSON.parse(await read('My Sagas/package.json'))).toMatchObject({ name: 'my-sagas' });
    expect(existsSync(join(folder, 'My Sagas/tsconfig.json'))).toBe(true);
    expect(printed).toContain('pnpm install');
    expect(await read('My Sagas/pnpm-workspace.yaml')).toContain('esbuild: false');
  });

  it.each([
    {
      template: 'cloudflare-workers',
      flags: ['-t', 'cloudflare-workers', '-l', 'js', '-n', 'worker'],
    },
    { template: 'vercel', flags: ['--template=vercel', '--language=ts', '--name=worker'] },
  ] satisfies { template: TemplateName; flags: readonly string[] }[])(
    'accepts every choice for $template as flags',
    async ({ flags }) => {
      expect(await run('--dir', join(folder, 'x'), ...flags)).toMatchObject({ code: 0 });
      expect(JSON.parse(await read('x/package.json'))).toMatchObject({ name: 'worker' });
    },
  );

  it.each([
    ['an unknown template', ['--template', 'nod'], "Unknown template 'nod'"],
    ['an unknown language', ['--language', 'rust'], "Unknown language 'rust'"],
    ['an unknown flag', ['--templat', 'node'], "'--templat'"],
    ['two folders', ['a', 'b'], 'Expected one folder'],
  ])('refuses %s and shows the usage', async (_, args, message) => {
    const { code, errors } = await run(...args);
    expect(code).toBe(2);
    expect(errors).toContain(message);
    expect(errors).toContain('npm create mcp-saga@latest');
  });

  it('refuses a folder that is not empty, and an invalid name', async () => {
    await writeFile(join(folder, 'notes.txt'), '');
    expect(await run(folder)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is not empty'),
    });
    const named = await run(join(folder, 'new'), '--name', 'Not a name');
    expect(named).toMatchObject({ code: 1, errors: expect.stringContaining("'Not a name'") });
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('shows its usage and its version', async () => {
    expect((await run('--help')).printed).toContain('--template');
    expect((await run('--version')).printed).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
