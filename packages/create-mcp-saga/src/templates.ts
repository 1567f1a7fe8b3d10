/** Name of a template. */
export type TemplateName =
  | 'node'
  | 'cloudflare-workers'
  | 'vercel'
  | 'aws-lambda'
  | 'existing-server';

/** Language of a project. */
export type Language = 'typescript' | 'javascript';

/** A template: the settings for a folder under `templates`. */
export interface Template {
  readonly title: string;
  readonly hint: string;
  /** Names of packages. Versions come from the development dependencies of create-mcp-saga. */
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  /** File for the keys of the development server. */
  readonly keysFile?: '.env' | '.dev.vars';
  /** Source file for `npm start`, without extension, or a command. */
  readonly start?: { readonly source: string } | { readonly command: string };
  /** Path of the MCP endpoint. */
  readonly path?: string;
}

const served = ['@mcp-saga/server', '@modelcontextprotocol/server', 'zod'];
const tested = ['@mcp-saga/eslint-plugin', '@mcp-saga/testing', 'oxlint', 'vitest'];
const called = ['@modelcontextprotocol/client'];

/** All templates. The first one is the default. */
export const templates: { readonly [name in TemplateName]: Template } = {
  node: {
    title: 'Node',
    hint: 'an HTTP server',
    dependencies: [...served, 'srvx'],
    devDependencies: [...tested, ...called],
    keysFile: '.env',
    start: { source: 'start' },
    path: '/mcp',
  },
  'cloudflare-workers': {
    title: 'Cloudflare Workers',
    hint: 'a Worker with a store in Durable Objects, and wrangler',
    dependencies: [...served, '@mcp-saga/cloudflare'],
    devDependencies: [...tested, ...called, 'wrangler'],
    keysFile: '.dev.vars',
    start: { command: 'wrangler dev --ip 127.0.0.1 --port 3000' },
    path: '/mcp',
  },
  vercel: {
    title: 'Vercel',
    hint: 'a function at /api/mcp',
    dependencies: served,
    devDependencies: [...tested, ...called, 'srvx'],
    keysFile: '.env',
    start: { source: 'local' },
    path: '/api/mcp',
  },
  'aws-lambda': {
    title: 'AWS Lambda',
    hint: 'a function behind a function URL, with SAM',
    dependencies: [...served, 'srvx'],
    devDependencies: [...tested, ...called, 'esbuild'],
    keysFile: '.env',
    start: { source: 'local' },
    path: '/mcp',
  },
  'existing-server': {
    title: 'Into an existing server',
    hint: 'adds a folder with a saga to your project',
    dependencies: ['@mcp-saga/server', 'zod'],
    devDependencies: tested,
  },
};

/** Names of all templates. */
export const templateNames = Object.keys(templates) as readonly TemplateName[];
