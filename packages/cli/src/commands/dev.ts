import { once } from 'node:events';
import { generateKey, memoryStore } from '@mcp-saga/server';
import { serve } from 'srvx';
import { defineCommand, type Command, type CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { findKeys, keyOptions } from '../input/read-keys.ts';
import { DevStudio } from '../serving/dev-studio.ts';
import { liveModule } from '../serving/live-module.ts';
import { seenClients } from '../serving/seen-clients.ts';
import { sayError, type Say } from '../serving/turn-log.ts';
import { secured } from '../studio/answer-studio.ts';

export const dev: Command = defineCommand({
  parameters: ['file'],
  options: {
    port: { short: 'p', value: 'PORT', help: 'port of the server (default: $PORT, or 3000)' },
    ...keyOptions,
  },
  example: 'mcp-saga dev sagas.ts',
  runsUserCode: true,
  closesWithinMs: 1_000,
  servesUntilInterrupted: true,
  run: async (values, [file = ''], io) => {
    const { json = false } = values;
    // `--env-file` may set PORT, too.
    const ownKeys = findKeys(values, io);
    const port = portOf(values.port, io);
    const keys = ownKeys ?? generateKey('dev');
    process.env['NODE_ENV'] ??= 'development';
    process.env['SAGA_KEYS'] ??= keys;
    const say: Say = (event, text) => {
      const time = new Date();
      io.print(
        json ? JSON.stringify({ time, ...event }) : `${time.toLocaleTimeString('en-GB')}  ${text}`,
      );
    };
    const onThrown = (error: unknown): void => sayError(say, error);
    process.on('unhandledRejection', onThrown).on('uncaughtException', onThrown);
    try {
      await serveUntilInterrupted(file, { keys, hasOwnKeys: ownKeys !== undefined, port, say, io });
    } finally {
      process.off('unhandledRejection', onThrown).off('uncaughtException', onThrown);
    }
    throw new CliError('stopped', 'Stopped.');
  },
});

/** Returns the port of the option, of the variable PORT, or 3000. Throws `usage`. */
function portOf(option: string | undefined, { environment }: CommandIo): string {
  const variable = environment['PORT'] || process.env['PORT'] || undefined;
  const port = option ?? variable ?? '3000';
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return port;
  const name = option === undefined ? 'PORT' : '--port';
  throw new CliError('usage', `${name} ${port}: expected a port, such as 3000.`);
}

interface ServeOptions {
  readonly keys: string;
  /** `false` if the keys were made for this process. */
  readonly hasOwnKeys: boolean;
  readonly port: string;
  readonly say: Say;
  readonly io: CommandIo;
}

async function serveUntilInterrupted(
  file: string,
  { keys, hasOwnKeys, port, say, io }: ServeOptions,
): Promise<void> {
  let url = '';
  const studio = new DevStudio();
  const live = await liveModule(file, {
    keys,
    store: memoryStore(),
    url: () => url,
    say,
    studio,
  });
  const onRequest = seenClients(say, studio.clients);
  const server = serve({
    fetch: async (request) => {
      const served = live.current();
      const page = studio.answer(request, served);
      if (page !== undefined) return await page;
      const client = request.method === 'POST' ? await onRequest(request.clone()) : undefined;
      return await studio.observe(request, client, () => served.server.fetch(request, process.env));
    },
    error: (error) => {
      sayError(say, error);
      return secured(new Response('The log of mcp-saga dev shows the error.\n', { status: 500 }));
    },
    port: Number(port),
    hostname: '127.0.0.1',
    silent: true,
    gracefulShutdown: false,
  });
  try {
    await server.ready();
    url = new URL(server.url ?? '').origin;
    const { path, programs } = live.current();
    const sagas = programs.map(({ name }) => name);
    const mcp = new URL(path, url).href;
    if (!hasOwnKeys) io.note('SAGA_KEYS is not set: tokens end with this process.');
    const page = new URL('/studio/', url).href;
    say(
      { type: 'ready', url: mcp, studio: page, sagas },
      `serving ${sagas.join(', ')} at ${mcp} and the studio at ${page}`,
    );
    if (!io.signal.aborted) await once(io.signal, 'abort');
  } catch (error) {
    if (Object(error).code !== 'EADDRINUSE') throw error;
    throw new CliError('port_in_use', `Port ${port} is in use. Pass another --port.`, {
      cause: error,
    });
  } finally {
    live.close();
    await Promise.all([server.close(true), studio.playground.close()]);
  }
}
