import { basename, extname } from 'node:path';
import type { SagaHost, SagaInspection } from '@mcp-saga/server';
import type * as Serve from '@mcp-saga/server/serve';
import type { SagaQueue, SagaStore } from '@mcp-saga/server/stores';
import { inspectingHost } from '../input/inspecting-host.ts';
import { assertSdk } from '../input/load-module.ts';
import { loadSagas, type GivenOptions } from '../input/load-sagas.ts';
import { isScript } from '../input/module-exports.ts';
import type { DevStudio, ShownModule } from './dev-studio.ts';
import { withTurnLog, type Say } from './turn-log.ts';
import { withValues } from './with-values.ts';

/** What stays when the code changes. */
export interface DevWorld {
  readonly keys: string;
  readonly store: SagaStore;
  /** Delivers to the newest code, which was the last to start it. */
  readonly queue: SagaQueue;
  /** Host name of the public address of answer pages. */
  readonly answersHost: string | undefined;
  /** Returns the URL of answer pages, without a path. */
  readonly url: () => string;
  readonly say: Say;
  readonly studio: DevStudio;
}

/** Server for the newest code of a module, and the path of its MCP endpoint. */
export type ServedModule = Omit<ShownModule, 'files'> & Readonly<{ server: Serve.SagaServer }>;

/**
 * Serves a module: an exported server or host with its options, or exported sagas with defaults.
 * Imports the server package as the module does, for the same classes.
 */
export async function serveModule(
  file: string,
  onImport: (url: string) => void,
  { keys, store, queue, answersHost, url, say, studio }: DevWorld,
): Promise<ServedModule> {
  const module = await loadSagas(file, onImport);
  const { loaded, importFor, hosts, sagas } = module;
  assertSdk(file);
  const { serveSagas } = await importFor<typeof Serve>('@mcp-saga/server/serve');
  const options: Partial<GivenOptions> = hosts[0] ?? { answerers: { model: 'accept' } };
  // Clients without forms can answer, too. The author of a server decides that.
  const served =
    hosts[0] === undefined
      ? sagas.map((saga) => ({ answeredBy: ['client', 'model', 'fallback'] as const, ...saga }))
      : sagas;
  const { auth, http, hooks, telemetry, anonymous } = options;
  // A server with a store of its own decides who continues its sagas, here as in production. A
  // queue wakes no saga with `reuse: 'ok'`, and the host warns about each.
  const needsQueue =
    options.queue === undefined &&
    options.store === undefined &&
    served.some(({ reuse }) => reuse !== 'ok');
  // A token opens by these, in the server and in the lens of the studio.
  const opening = {
    name: basename(file),
    ...options,
    store: options.store ?? store,
    // An ephemeral key would end with the code that made it.
    keys: options.keys === 'ephemeral' ? keys : (options.keys ?? keys),
  } as const;
  const server = serveSagas({
    version: 'dev',
    ...opening,
    sagas: served.map((saga) => withValues(saga, studio.feed)),
    ...(needsQueue && { queue }),
    // A host has no `authenticate`: its users come from another transport.
    auth: auth?.authenticate === undefined ? { ...auth, principal: undefined } : auth,
    // Only this machine reaches the server.
    anonymous: {
      tasks: 'accept',
      resumableRequests: 'accept',
      ...anonymous,
      ...(auth?.authenticate === undefined && { calls: undefined }),
    },
    http: {
      ...http,
      allowedHosts: ['localhost', '127.0.0.1', ...(answersHost === undefined ? [] : [answersHost])],
      // Tools of developers, such as an inspector, are pages on other ports.
      allowedOrigins: ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:*`),
    },
    url,
    hooks: withTurnLog(hooks, say, studio.feed),
    telemetry: studio.feed.telemetry(telemetry),
  } as object as Serve.ServeSagasOptions);
  const scripts = Object.keys(loaded).filter((name) => isScript(loaded[name]));
  let lens: Promise<SagaHost> | undefined;
  const inspect = async (token: string): Promise<SagaInspection> => {
    lens ??= inspectingHost(module, { ...opening, sagas });
    return await (await lens).inspect(token);
  };
  const name = options.name ?? basename(file, extname(file));
  const hasOwnQueue = options.queue !== undefined;
  const path = http?.path ?? '/mcp';
  return { server, name, hasOwnQueue, path, inspect, programs: sagas, scripts };
}
