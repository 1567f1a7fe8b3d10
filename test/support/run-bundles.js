// `node --import run-bundles.js PROGRAM.ts` runs the bundles that `bundle-for-node.ts` has written, in place of the
// sources that have one.
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { isMainThread } from 'node:worker_threads';

const root = new URL('../../', import.meta.url).href;
const bundles = new URL('node_modules/.cache/bundles/', root).href;
const found = new Map();

function toBundle(resolved) {
  // `mcp-saga dev` loads the modules of the user anew, by a query.
  const [url, ...query] = resolved.url.split('?');
  if (!url.startsWith(root) || !url.endsWith('.ts')) return resolved;
  const bundle = `${bundles}${url.slice(root.length, -'.ts'.length)}.mjs`;
  if (!found.has(bundle)) found.set(bundle, existsSync(new URL(bundle)));
  if (!found.get(bundle)) return resolved;
  return { ...resolved, url: [bundle, ...query].join('?'), format: 'module' };
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
