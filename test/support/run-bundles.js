// `node --import run-bundles.js PROGRAM.ts` runs the bundle that `bundleForNode` has written of the program.
import * as module from 'node:module';
import { isMainThread } from 'node:worker_threads';

const root = new URL('../../', import.meta.url).href;

function toBundle(resolved) {
  if (!resolved.url.startsWith(root) || !resolved.url.endsWith('.ts')) return resolved;
  const name = resolved.url.slice(root.length).replaceAll('/', '-');
  return {
    ...resolved,
    url: new URL(`node_modules/.cache/bundles/${name}.mjs`, root).href,
    format: 'module',
  };
}

// Node 20 lacks `registerHooks`, and newer versions warn of `register`, whose hooks run in a thread of their own.
if (module.registerHooks !== undefined)
  module.registerHooks({
    resolve: (specifier, context, next) => toBundle(next(specifier, context)),
  });
else if (isMainThread) module.register(import.meta.url);

export async function resolve(specifier, context, next) {
  return toBundle(await next(specifier, context));
}
