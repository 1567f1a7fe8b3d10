import { basename } from 'node:path';
import type { HostHooks, Program } from '@mcp-saga/server';
import type { givenOptions as GivenOptionsMap } from '@mcp-saga/server/internal';
import type { SagaServer, serveSagas as ServeSagas, ServeSagasOptions } from '@mcp-saga/server/serve';
import type { SagaStore } from '@mcp-saga/server/stores';
import { exportsOf, loadAnew } from '../input/load-module.ts';
import { isSaga } from '../input/module-exports.ts';
import type { DevStudio } from './dev-studio.ts';
import { withTurnLog, type Say } from './turn-log.ts';

/** What stays when the code changes. */
export interface DevWorld {
  readonly keys: string;
  readonly store: SagaStore;
  /** Returns the URL of the server, without a path. */
  readonly url: () => string;
  readonly say: Say;
  readonly studio: DevStudio;
}

/** Server for the newest code of a module. */
export interface ServedModule {
  readonly server: SagaServer;
  readonly sagas: readonly string[];
  /** Path of the MCP endpoint. */
  readonly path: string;
}

type GivenOptions = Partial<ServeSagasOptions> & { readonly hooks?: HostHooks };

/**
 * Serves a module: an exported server or host with its options, or exported sagas with defaults. Imports the server package as the
 * module does, for the same classes.
 */
export async function serveModule(
  file: string,
  onImport: (url: string) => void,
  { keys, store, url, say, studio }: DevWorld,
): Promise<ServedModule> {
  const { loaded, importFor } = await loadAnew(file, onImport);
  const { serveSagas } = await importFor<{ readonly serveSagas: typeof ServeSagas }>(
    '@mcp-saga/server/serve',
  );
  const { givenOptions } = await importFor<{ readonly givenOptions: typeof GivenOptionsMap }>(
    '@mcp-saga/server/internal',
  );
  const isServed = (value: unknown): value is object => isSaga(value) || givenOptions.has(Object(value));
  const what = 'saga, host, or server. Pass the file with the sagas, such as sagas.ts';
  const found = [...exportsOf(file, loaded, what, isServed).values()];
  const given: GivenOptions | undefined = found.map((value) => givenOptions.get(value)).find(Boolean);
  // Clients without forms can answer, too. A server decides that itself.
  const options: GivenOptions = given ?? { answers: { model: 'accept' } };
  const sagas = given?.sagas ?? newest(found.filter((value) => isSaga(value)));
  const { auth, http, outside, hooks, telemetry, tasks, resumableRequests } = options;
  const server = serveSagas({
    name: basename(file),
    version: 'dev',
    ...options,
    sagas: studio.withValues(sagas),
    store: options.store ?? store,
    // An ephemeral key would end with the code that made it.
    keys: options.keys === 'ephemeral' ? keys : (options.keys ?? keys),
    // A host has no `authenticate`: its users come from another transport.
    auth: auth?.authenticate === undefined ? { ...auth, principal: undefined } : auth,
    // Only this machine reaches the server.
    tasks: { bearer: 'accept', ...tasks },
    resumableRequests: { bearer: 'accept', ...resumableRequests },
    http: { ...http, allowedHosts: ['localhost', '127.0.0.1'], allowedOrigins: undefined, cors: true },
    outside: { ...outside, url },
    hooks: studio.withErrors(withTurnLog(hooks, say)),
    telemetry: studio.telemetry(telemetry),
  } as object as ServeSagasOptions);
  return { server, sagas: sagas.map(({ name }) => name), path: http?.path ?? '/mcp' };
}

/** Leaves out versions that another saga continues. */
function newest(sagas: readonly Program[]): readonly Program[] {
  const old = new Set(sagas.flatMap(({ previous }) => previous.map(({ saga }) => saga)));
  return sagas.filter((saga) => !old.has(saga));
}
