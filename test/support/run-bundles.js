// `node --import run-bundles.js PROGRAM.ts` runs the bundle that `bundleForNode` has written of the program.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Hooks run in a thread of their own.
if (isMainThread) register(import.meta.url);

const root = new URL('../../', import.meta.url).href;

export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  if (!resolved.url.startsWith(root) || !resolved.url.endsWith('.ts')) return resolved;
  const name = resolved.url.slice(root.length).replaceAll('/', '-');
  return {
    ...resolved,
    url: new URL(`node_modules/.cache/bundles/${name}.mjs`, root).href,
    format: 'module',
  };
}
