import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { install } from './install.ts';

/** A Worker in workerd, with its bindings. */
export interface Miniflare {
  /** Resolves to the URL of the Worker. */
  readonly ready: Promise<URL>;
  getD1Database(name: string): Promise<unknown>;
  dispose(): Promise<void>;
}

/** Starts a Worker in workerd with miniflare. `options`: bindings, in the format of miniflare. */
export async function startMiniflare(script: string, options: object): Promise<Miniflare> {
  const folder = await install('miniflare', 'miniflare@4.20260426.0');
  const file = pathToFileURL(join(folder, 'node_modules/miniflare/dist/src/index.js')).href;
  const module = (await import(file)) as { readonly Miniflare: new (options: object) => Miniflare };
  // A script passed as plain text could not import a module whose name is in a variable.
  const modules = [{ type: 'ESModule', path: 'worker.js', contents: script }];
  return new module.Miniflare({ modules, compatibilityDate: '2026-04-01', ...options });
}
