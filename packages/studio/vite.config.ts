import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, defineConfig, type Plugin, type Rolldown } from 'vite';
import { readExamples } from './examples/examples.ts';

/**
 * Parts of a server that code in the page cannot use. Each file exports the function of its name.
 */
const ofServers =
  /\/server\/src\/(?:queue|outside|dialects\/tasks)\/(memory-queue|memory-mailbox|memory-store|standard-webhook|memory-task-store)\.ts$/;

function missing(name: string): string {
  return `export function ${name}() { throw new Error('${name} is not in the playground.'); }`;
}

/**
 * Parts of sucrase for other languages than TypeScript, for other modules than CommonJS, and for
 * source maps.
 */
const ofOtherCode =
  /\/sucrase\/dist\/esm\/(?:computeSourceMap|util\/formatTokens|parser\/plugins\/(?:flow|jsx\/index)|transformers\/(?:ESMImport|Flow|JSX|JestHoist|ReactDisplayName|ReactHotLoader)Transformer)\.js$/;

/** Replaces all functions and classes that a file exports. */
function missingIn(id: string): string {
  const exported = readFileSync(id, 'utf8').matchAll(
    /^export (default )?(?:function|class) (\w+)/gm,
  );
  return Array.from(exported, ([, isDefault = '', name = '']) => {
    const code = missing(name);
    return isDefault === '' ? code : code.replace('export', 'export default');
  }).join('\n');
}

/** A schema that zod cannot compile is the same schema, with the usual parser. */
const uncompiled = `
export const INVALID = Symbol.for('zod.compile.invalid');
export class ZodCompileAsyncError extends Error {}
export class ZodCompileUnsupportedError extends Error {}
export const compile = (schema) => schema;
export const withParser = compile;
`;

/**
 * Replaces what a page does not use: MCP servers, answer pages, and of zod the messages in other
 * languages, the reader of JSON Schema, and the compiler. Of sucrase, the parts for other code.
 */
function withoutUnused(): Plugin {
  return {
    name: 'without-unused',
    enforce: 'pre',
    load(id) {
      if (id.endsWith('/server/src/mcp/attach.ts')) return 'export function attachSagas() {}';
      if (id.endsWith('/server/src/outside/answer-request.ts'))
        return 'export function answerRequest() {}';
      const [, file] = ofServers.exec(id) ?? [];
      if (file !== undefined)
        return missing(file.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()));
      if (ofOtherCode.test(id)) return missingIn(id);
      if (id.endsWith('/sucrase/dist/esm/Options.js'))
        return 'export function validateOptions() {}';
      if (id.endsWith('/zod/v4/core/compile.js')) return uncompiled;
      if (id.endsWith('/zod/v4/classic/from-json-schema.js')) return missing('fromJSONSchema');
      return id.endsWith('/zod/v4/locales/index.js')
        ? "export { default as en } from './en.js';"
        : undefined;
    },
  };
}

const guards = ['isCancelled', 'isDeclined', 'isInvalid', 'isRefused'];

/** Keeps the names of guards, which a statechart shows. Other names are shorter in the page. */
function withGuardNames(): Plugin {
  const keep = guards.map(
    (name) => `Object.defineProperty(${name}, 'name', { value: '${name}' });`,
  );
  return {
    name: 'with-guard-names',
    transform: (code, id) =>
      id.endsWith('/xstate/src/author/step-error.ts') ? [code, ...keep].join('\n') : undefined,
  };
}

/** Keeps jose in the worker: a token loads it, but a page sends no request after it has loaded. */
function withJose(): Plugin {
  return {
    name: 'with-jose',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/seal/src/sealer/portable-sealer.ts')) return undefined;
      const imports: string[] = [];
      const eager = code.replaceAll(/await import\(('jose[^']*')\)/g, (_, path: string) => {
        const name = `jose${imports.length}`;
        imports.push(`import * as ${name} from ${path};`);
        return name;
      });
      return [...imports, eager].join('\n');
    },
  };
}

/** Blocks every request of the page and of its worker, which inherits the policy. */
const policy = [
  "default-src 'none'",
  "script-src 'self' blob: 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "worker-src 'self' blob:",
  'img-src data:',
].join('; ');

function contentPolicy(): Plugin {
  return {
    name: 'content-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}

/** Reads the examples of the statechart page, by title. */
function readMachines(): Readonly<Record<string, string>> {
  const files = {
    'Checkout with a parallel state': 'checkout',
    'Order with child machines': 'order',
    'Media player with history': 'player',
    'Refund as a machine saga': 'refund',
  };
  return Object.fromEntries(
    Object.entries(files).map(([title, name]) => [
      title,
      readFileSync(new URL(`examples/machines/${name}.ts`, import.meta.url), 'utf8'),
    ]),
  );
}

/**
 * Bundles the modules for machines as a CommonJS module, which imports the engine of the worker.
 */
async function bundleMachines(): Promise<string> {
  const input = fileURLToPath(new URL('src/engine/saga-modules.ts', import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [withGuardNames()],
    build: {
      write: false,
      target: 'es2023',
      rolldownOptions: {
        input,
        external: /^@mcp-saga\/core/,
        preserveEntrySignatures: 'strict',
        output: { format: 'cjs' },
      },
    },
  });
  const [{ output }] = [built].flat() as readonly [Rolldown.RolldownOutput];
  return output[0].code;
}

const [first, ...others] = readExamples();

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  define: {
    FIRST_EXAMPLE: JSON.stringify(first),
    OTHER_EXAMPLES: JSON.stringify(others),
    MACHINE_MODULES: JSON.stringify(await bundleMachines()),
    MACHINES: JSON.stringify(readMachines()),
  },
  plugins: [withoutUnused(), withGuardNames(), contentPolicy()],
  worker: { format: 'es', plugins: () => [withoutUnused(), withGuardNames(), withJose()] },
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    target: 'es2023',
    rollupOptions: {
      input: ['index.html', 'machine.html'].map((page) =>
        fileURLToPath(new URL(page, import.meta.url)),
      ),
    },
  },
});
