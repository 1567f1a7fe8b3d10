import type { Program } from '@mcp-saga/server';
import type * as Internal from '@mcp-saga/server/internal';
import type { ServeSagasOptions } from '@mcp-saga/server/serve';
import { CliError } from '../model/errors.ts';
import { exportsOf, loadAnew, type LoadedAnew } from './load-module.ts';
import { isSaga } from './module-exports.ts';

/** Options of a host or a server. */
export type GivenOptions = Partial<ServeSagasOptions> & { readonly sagas: readonly Program[] };

/** Sagas of a module, and the options of the hosts and servers that it exports. */
export interface LoadedSagas extends LoadedAnew {
  /** Newest versions. */
  readonly sagas: readonly Program[];
  /** Exported sagas, hosts, and servers by name. */
  readonly exported: ReadonlyMap<string, object>;
  readonly hosts: readonly GivenOptions[];
}

/**
 * Imports a module again, and finds its sagas. Throws `no_file`, `no_export`, or the error of a
 * module.
 */
export async function loadSagas(
  file: string,
  onImport?: (url: string) => void,
): Promise<LoadedSagas> {
  const module = await loadAnew(file, onImport);
  const { givenOptions } = await module.importFor<typeof Internal>('@mcp-saga/server/internal');
  const isServed = (value: unknown): value is object =>
    isSaga(value) || givenOptions.has(Object(value));
  const what = 'saga, host, or server. Pass the file with the sagas, such as sagas.ts';
  const exported = exportsOf(file, module.loaded, what, isServed);
  const found = [...exported.values()];
  const hosts = found.flatMap(
    (value) => (givenOptions.get(value) as GivenOptions | undefined) ?? [],
  );
  const own = found.filter((value) => isSaga(value));
  // Another saga continues them.
  const old = new Set(own.flatMap(({ previous }) => previous.map(({ saga }) => saga)));
  const sagas = hosts[0]?.sagas ?? own.filter((saga) => !old.has(saga));
  return { ...module, exported, hosts, sagas };
}

/** Imports a module with a host or a server. Throws as `loadSagas`. */
export async function loadHosts(file: string): Promise<LoadedSagas> {
  const module = await loadSagas(file);
  if (module.hosts.length > 0) return module;
  throw new CliError('no_export', `${file} exports no host or server.`);
}
