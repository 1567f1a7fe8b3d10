import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey } from '@mcp-saga/server';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startCommand, type ServerProcess } from '../../examples/run-server/index.ts';
import { install } from '../support/install.ts';
import { compileProjects } from './compile-projects.ts';
import { run } from './run.ts';

/** A project made from a template. */
interface Project {
  readonly template: string;
  readonly language: string;
  readonly folder: string;
  /** `type` of the package.json of an existing server, which may be CommonJS. */
  readonly type: 'module' | 'commonjs';
}

/** A server as users have one, with the line that the command prints. */
const existingServer = (attach: string, isRequired: boolean): string => `${
  isRequired
    ? `const { McpServer } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');`
    : `import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';`
}
${attach}

serveStdio(() => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  sagas.attach(server);
  return server;
});
`;

const templates = ['node', 'cloudflare-workers', 'vercel', 'aws-lambda', 'existing-server'];
const languages = ['typescript', 'javascript'];

/**
 * Makes a project of each template in each language, with the installed `create-mcp-saga`, below
 * `projects`.
 */
export async function createProjects(root: string): Promise<readonly Project[]> {
  const bin = join(root, 'node_modules/create-mcp-saga/dist/bin.js');
  const projects = templates.flatMap((template) =>
    languages.flatMap((language) => {
      const types = template === 'existing-server' ? ['module', 'commonjs'] : ['module'];
      return types.map((type): Project => {
        const folder = join(root, 'projects', `${template}-${language}-${type}`);
        return { template, language, folder, type: type as Project['type'] };
      });
    }),
  );
  await Promise.all(
    projects.map(async (project) => {
      const { template, language, folder } = project;
      if (template === 'existing-server') await writeExistingProject(project);
      const printed = await run(
        process.execPath,
        [bin, folder, '--template', template, '--language', language],
        root,
      );
      if (template === 'existing-server') await writeServer(project, printed);
    }),
  );
  // wrangler is as large as everything else, and installed beside the projects.
  const workers = projects.filter(({ template }) => template === 'cloudflare-workers');
  await Promise.all(
    workers.map(({ folder }) =>
      change(join(folder, 'package.json'), (text) => text.replace(/,\s*"wrangler": "[^"]*"/, '')),
    ),
  );
  return projects;
}

/** Writes what `npm init -y` does, and what a server needs. */
async function writeExistingProject({ folder, language, type }: Project): Promise<void> {
  await mkdir(folder, { recursive: true });
  const manifest = {
    name: `shop-${language}-${type}`,
    private: true,
    type,
    scripts: { test: 'echo "Error: no test specified" && exit 1' },
    dependencies: { '@modelcontextprotocol/server': '^2.4.0' },
    devDependencies: { '@types/node': '^20' },
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const isTypeScript = language === 'typescript';
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    noEmit: true,
    strict: true,
  };
  const settings = { compilerOptions: { ...compilerOptions, skipLibCheck: true } };
  if (isTypeScript) await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
}

async function writeServer({ folder, language, type }: Project, printed: string): Promise<void> {
  const [attach = ''] = /^.*(?:require\(|from )'\.\/sagas.*$/m.exec(printed) ?? [];
  const isTypeScript = language === 'typescript';
  await writeFile(
    join(folder, isTypeScript ? 'server.ts' : 'server.js'),
    existingServer(attach, !isTypeScript && type === 'commonjs'),
  );
}

/** Lints each project with its own settings. */
export async function lint(root: string, projects: readonly Project[]): Promise<void> {
  const bin = join(root, 'node_modules/oxlint/bin/oxlint');
  for (const { template, folder } of projects) {
    const paths = template === 'existing-server' ? ['sagas'] : [];
    await run(process.execPath, [bin, '--deny-warnings', ...paths], folder);
  }
}

async function change(file: string, edit: (text: string) => string): Promise<void> {
  await writeFile(file, edit(await readFile(file, 'utf8')));
}

/** Checks the types of all projects in TypeScript. */
export async function checkTypes(root: string, projects: readonly Project[]): Promise<void> {
  const typed = projects.filter(({ language }) => language === 'typescript');
  await compileProjects(
    'typescript-5',
    typed.map(({ folder }) => join(folder, 'tsconfig.json')),
    root,
  );
}

/** Starts each project and calls its tool; the projects of one template at the same time. */
export async function callTools(projects: readonly Project[]): Promise<void> {
  for (const template of templates) {
    const ofTemplate = projects.filter((project) => project.template === template);
    await Promise.all(ofTemplate.map((project) => callTool(project)));
  }
}

async function callTool(project: Project): Promise<void> {
  const output = await (project.template === 'existing-server'
    ? callByStdio(project)
    : callByHttp(project));
  if (!/Sent INV-.{8} to Ada\./.test(output))
    throw new Error(`${project.template} in ${project.language} answered:\n${output}`);
  if (project.template === 'aws-lambda') await invokeLambda(project);
}

/**
 * Starts the server of a project with its own script, and in a dev server of the platform, and
 * calls the tool of each.
 */
async function callByHttp(project: Project): Promise<string> {
  const { scripts } = JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string; readonly call: string };
  };
  const output = await callServer(
    project,
    scripts.call,
    await startProject(project, scripts.start),
  );
  if (project.template !== 'vercel') return output;
  return await callServer(project, scripts.call, await startVercelFunction(project));
}

async function callServer(
  project: Project,
  script: string,
  server: ServerProcess,
): Promise<string> {
  try {
    // The client of the project, at the port that this server has.
    const [command = '', ...args] = script.split(' ');
    const { port } = new URL(server.url);
    return await run(process.execPath, [...flagsOf(command), ...args], project.folder, {
      PORT: port,
    });
  } finally {
    await server.stop();
  }
}

/** Starts the server as `npm start` does, at a free port, and without processes in between. */
async function startProject({ template, folder }: Project, script: string): Promise<ServerProcess> {
  const [command = '', ...args] = script.split(' ');
  if (template === 'cloudflare-workers') return await startWorker(folder);
  return await startCommand(template, {
    command: process.execPath,
    args: [...flagsOf(command), ...args],
    cwd: folder,
    // If TEST is set, srvx does not print its address.
    environment: { PORT: '0', TEST: '' },
  });
}

/**
 * Starts the function in the dev server of `@vercel/node`, in which `vercel dev` runs functions.
 * `vercel dev` requires an account before it starts, so no test runs that command.
 */
async function startVercelFunction({ folder, language }: Project): Promise<ServerProcess> {
  const installed = await install('runtimes', '@vercel/node@24.0.0', '@vercel/build-utils@14.21.0');
  const server = fileURLToPath(
    new URL('../../examples/platforms/vercel/dev-server.cjs', import.meta.url),
  );
  const entrypoint = language === 'typescript' ? 'api/mcp.ts' : 'api/mcp.js';
  return await startCommand('vercel', {
    command: process.execPath,
    args: ['--env-file=.env', server, entrypoint],
    cwd: folder,
    environment: {
      VERCEL_NODE: createRequire(join(installed, 'package.json')).resolve('@vercel/node'),
    },
    served: /(?<=Serves at )http:\S+/,
    end: 'SIGTERM',
  });
}

async function startWorker(folder: string): Promise<ServerProcess> {
  const installed = await install('runtimes', 'wrangler@4.86.0');
  const bin = join(installed, 'node_modules/wrangler/bin/wrangler.js');
  return await startCommand('worker', {
    command: process.execPath,
    args: [bin, 'dev', '--local', '--ip=127.0.0.1', '--port=0', '--inspector-port=0'],
    cwd: folder,
    environment: { CI: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    served: /(?<=Ready on )http:\S+/,
    end: 'SIGTERM',
  });
}

/** What `tsx` or `node` is as arguments of Node. */
function flagsOf(command: string): readonly string[] {
  return command === 'tsx' ? ['--import', 'tsx'] : [];
}

async function callByStdio({ folder, language }: Project): Promise<string> {
  const isTypeScript = language === 'typescript';
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: isTypeScript ? ['--import', 'tsx', 'server.ts'] : ['server.js'],
    cwd: folder,
    env: { SAGA_KEYS: generateKey() },
  });
  const client = new Client(
    { name: 'release-check', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { confirmed: true },
  }));
  await client.connect(transport);
  try {
    const call = { name: 'send_invoice', arguments: { customer: 'Ada', amount: 12 } };
    return JSON.stringify((await client.callTool(call)).content);
  } finally {
    await client.close();
  }
}

/** Invokes the handler with the event of a function URL. */
async function invokeLambda({ folder, language }: Project): Promise<void> {
  const script = `
    const { handler } = await import('./lambda.${language === 'typescript' ? 'ts' : 'js'}');
    const { statusCode, body } = await handler({
      version: '2.0', rawPath: '/mcp', rawQueryString: '', isBase64Encoded: false,
      headers: { host: 'x.example', accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      requestContext: { domainName: 'x.example', http: { method: 'POST', path: '/mcp' } },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    }, {});
    console.log(statusCode, body);
  `;
  const flags = language === 'typescript' ? ['--import', 'tsx'] : [];
  const args = ['--env-file=.env', ...flags, '--input-type=module', '--eval', script];
  const output = await run(process.execPath, args, folder);
  if (!/^200 [^]*send_invoice/.test(output))
    throw new Error(`The Lambda function answered:\n${output}`);
}
