import { once } from 'node:events';
import { generateKey, memoryStore } from '@mcp-saga/server';
import { serve, type Server, type ServerOptions } from 'srvx';
import { defineCommand, type Command, type CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { findKeys, keyOptions } from '../input/read-keys.ts';
import { DevStudio } from '../serving/dev-studio.ts';
import { keptStore } from '../serving/kept-store.ts';
import { liveModule } from '../serving/live-module.ts';
import { seenClients } from '../serving/seen-clients.ts';
import { sayError, type Say } from '../serving/turn-log.ts';
import {
  clientSnippets,
  type ClientSnippet,
  type SnippetFacts,
} from '../studio/client-snippets.ts';
import { refusal, secured } from '../studio/answer-studio.ts';

export const dev: Command = defineCommand({
  parameters: ['file'],
  options: {
    port: {
      short: 'p',
      value: 'PORT',
      help: 'port of the server (default: $PORT, or the first free one from 3000)',
    },
    'answers-url': {
      value: 'URL',
      help: 'public address of answer pages: a tunnel to the port after that of the server',
    },
    clients: { help: 'prints the configuration of each client for this server' },
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
    const { supervisor } = io;
    const { kept } = supervisor ?? {};
    // Clients know the address of the process that was killed, and hold tokens of its key.
    const port = (kept?.get('port') as string | undefined) ?? portOf(values.port, io);
    const keys = ownKeys ?? (kept?.get('keys') as string | undefined) ?? generateKey('dev');
    await supervisor?.keep('keys', keys);
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
      const advise = json ? () => [] : values.clients === true ? allClients : oneClient;
      const answersUrl = answersUrlOf(values['answers-url']);
      const hasOwnKeys = ownKeys !== undefined;
      await serveUntilInterrupted(file, { keys, hasOwnKeys, port, answersUrl, say, advise, io });
    } finally {
      process.off('unhandledRejection', onThrown).off('uncaughtException', onThrown);
    }
    throw new CliError('stopped', 'Stopped.');
  },
});

/**
 * Returns the port of the option, or of the variable PORT; undefined if nobody chose one. Throws
 * `usage`.
 */
function portOf(option: string | undefined, { environment }: CommandIo): string | undefined {
  const port = option ?? (environment['PORT'] || process.env['PORT'] || undefined);
  if (port === undefined) return undefined;
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return port;
  const name = option === undefined ? 'PORT' : '--port';
  throw new CliError('usage', `${name} ${port}: expected a port, such as 3000.`);
}

/** Returns the origin of `--answers-url`. Throws `usage`. */
function answersUrlOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const { protocol, origin } = URL.canParse(given) ? new URL(given) : {};
  // The server makes links of no other URLs: an answer must not be readable on its way.
  if (protocol === 'https:' && origin !== undefined) return origin;
  throw new CliError(
    'usage',
    `--answers-url ${given}: expected the HTTPS address of a tunnel, such as https://shop.example.`,
  );
}

interface ServeOptions {
  readonly keys: string;
  /** `false` if the keys were made for this process. */
  readonly hasOwnKeys: boolean;
  /** Default: the first free port. */
  readonly port: string | undefined;
  /** Public address of answer pages and webhooks. Default: that of the server. */
  readonly answersUrl: string | undefined;
  readonly say: Say;
  /** Makes lines that say how to connect clients. */
  readonly advise: (server: SnippetFacts) => readonly string[];
  readonly io: CommandIo;
}

/** The client of most users, on one line that a terminal does not wrap. */
function oneClient(server: SnippetFacts): readonly string[] {
  const [{ client, file, text }] = clientSnippets(server) as readonly [ClientSnippet];
  return [
    `${client}, in ${file}: ${JSON.stringify(JSON.parse(text))}`,
    'Other clients: --clients, or the studio.',
  ];
}

function allClients(server: SnippetFacts): readonly string[] {
  return clientSnippets(server).map(({ client, file, text, isTried, note }) => {
    const more = [isTried ? '' : ' (not tried)', note === undefined ? '' : `. ${note}`];
    return `${client}, in ${file}${more.join('')}\n\n${text}\n`;
  });
}

async function serveUntilInterrupted(
  file: string,
  { keys, hasOwnKeys, port, answersUrl, say, advise, io }: ServeOptions,
): Promise<void> {
  const { supervisor } = io;
  const { kept } = supervisor ?? {};
  const isFirst = supervisor?.replaced === undefined;
  // The queue may deliver messages of the killed process before this one listens.
  let url = isFirst ? '' : `http://127.0.0.1:${port}`;
  const studio = new DevStudio(supervisor);
  const live = await liveModule(file, {
    keys,
    store: supervisor === undefined ? memoryStore() : keptStore(supervisor),
    queue: studio.queue,
    url: () => answersUrl ?? url,
    answersHost: answersUrl === undefined ? undefined : new URL(answersUrl).host,
    say,
    studio,
  });
  const onRequest = seenClients(say, studio.clients);
  const publicName = answersUrl === undefined ? undefined : new URL(answersUrl).hostname;
  const options: ServerOptions = {
    fetch: async (request) => {
      // A tunnel to this port by mistake would let anyone call the tools.
      if (publicName !== undefined && new URL(request.url).hostname === publicName)
        return refusal(403, 'The tunnel leads to the wrong port: use that of the answer pages.');
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
    hostname: '127.0.0.1',
    silent: true,
    gracefulShutdown: false,
  };
  // The public reaches answer pages by the tunnel, and nothing else.
  const answers: ServerOptions = {
    ...options,
    fetch: async (request) =>
      answerPath.test(new URL(request.url).pathname)
        ? await live.current().server.fetch(request, process.env)
        : refusal(404, 'Only answer pages are served here.'),
  };
  let server: Server | undefined;
  let answering: Server | undefined;
  try {
    server = await listen(options, port, io);
    url = new URL(server.url ?? '').origin;
    if (answersUrl !== undefined) {
      const next = port === '0' ? '0' : String(Number(new URL(url).port) + 1);
      answering = await listen(answers, (kept?.get('answers') as string | undefined) ?? next, io);
      const { host, port: ownPort } = new URL(answering.url ?? '');
      await supervisor?.keep('answers', ownPort);
      if (isFirst) io.note(`Answer pages for the tunnel of ${answersUrl}: http://${host}`);
    }
    const { path, name, programs } = live.current();
    const sagas = programs.map((saga) => saga.name);
    const mcp = new URL(path, url).href;
    await supervisor?.keep('port', new URL(url).port);
    await supervisor?.ready();
    if (!hasOwnKeys && isFirst) io.note('SAGA_KEYS is not set: tokens end with this process.');
    const page = new URL('/studio/', url).href;
    if (isFirst) for (const line of advise({ name, url: mcp })) io.note(line);
    const served = `serving ${sagas.join(', ')} at ${mcp} and the studio at ${page}`;
    say(
      { type: 'ready', url: mcp, studio: page, sagas },
      isFirst
        ? served
        : `process ${supervisor.replaced} was killed, process ${process.pid} is ${served}`,
    );
    if (!io.signal.aborted) await once(io.signal, 'abort');
  } finally {
    live.close();
    await Promise.all([server?.close(true), answering?.close(true), studio.playground.close()]);
  }
}

/** Path of an answer page or a webhook. */
const answerPath = /^\/saga\/(?:answer|event)\/[^/]+$/;

const firstPort = 3_000;
const lastPort = 3_099;

/**
 * Serves at the chosen port, or at the first free one. Somebody has told clients about a chosen
 * port, so no other port takes its place. Throws `port_in_use`.
 */
async function listen(
  options: ServerOptions,
  chosen: string | undefined,
  io: CommandIo,
): Promise<Server> {
  const first = chosen === undefined ? firstPort : Number(chosen);
  const last = chosen === undefined ? lastPort : first;
  for (let port = first; ; port += 1) {
    const server = serve({ ...options, port });
    try {
      await server.ready();
      if (port > first) io.note(`Port ${first} is in use, so the server listens at ${port}.`);
      return server;
    } catch (error) {
      await server.close(true);
      if (Object(error).code !== 'EADDRINUSE') throw error;
      if (port === last)
        throw new CliError('port_in_use', `Port ${port} is in use. Pass another --port.`, {
          cause: error,
        });
    }
  }
}
