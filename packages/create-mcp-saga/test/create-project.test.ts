import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProject } from 'create-mcp-saga';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../src/main.ts';
import type { Manifest } from '../src/manifest.ts';
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
    if (template === 'existing-server') await writeFile(join(folder, 'package.json'), '{}');
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

  it('keeps its files, and nothing is written if a file already exists', async () => {
    await writeFile(join(folder, 'package.json'), '{}');
    await mkdir(join(folder, 'sagas'));
    await writeFile(join(folder, 'sagas/host.js'), 'mine');
    const creating = createProject({
      template: 'existing-server',
      language: 'javascript',
      dir: folder,
      name: 'shop',
    });
    await expect(creating).rejects.toMatchObject({ code: 'file_exists' });
    expect(await readdir(join(folder, 'sagas'))).toEqual(['host.js']);
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
