import { once } from 'node:events';
import { present } from '@mcp-saga/core/program';
import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CommandIo, ValuesOf } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { ownVersion } from '../input/own-package.ts';

/** Options that name a server. */
export const serverOptions = {
  url: {
    short: 'u',
    value: 'URL',
    help: 'address of a server over HTTP, such as http://127.0.0.1:3000/mcp',
  },
  stdio: { value: 'COMMAND', help: 'command of a server over stdio, such as "node server.js"' },
  header: {
    short: 'H',
    multiple: true,
    value: '"NAME: VALUE"',
    help: 'header of each request; repeatable',
  },
  mcp: {
    value: 'VERSION',
    help: '2026-07-28 or 2025-11-25 (default: the newest that the server has)',
  },
} as const;

/** Values of {@link serverOptions}. */
export type ServerValues = ValuesOf<typeof serverOptions>;

/**
 * Connects a client to a server, and closes the client after `use`.
 * @throws CliError `usage` for missing or wrong options, `unreachable` if there is no server,
 * `not_mcp` for another kind of server, and what `use` throws
 */
export async function withServer<T>(
  values: ServerValues,
  capabilities: Readonly<Record<string, object>>,
  { signal, environment }: CommandIo,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const transport = transportOf(values, environment);
  const client = new Client(
    { name: 'mcp-saga', version: ownVersion() },
    {
      capabilities,
      versionNegotiation: { mode: modeOf(values.mcp) },
      inputRequired: { maxRounds: 1_000 },
    },
  );
  let isConnected = false;
  try {
    // A server may start first. Not all requests of the SDK end with the signal.
    await Promise.race([
      client.connect(transport, { signal, timeout: 15_000 }),
      once(signal, 'abort'),
    ]);
    signal.throwIfAborted();
    isConnected = true;
    return await use(client);
  } catch (cause) {
    throw unusable(values, cause, isConnected);
  } finally {
    await client.close().catch(() => undefined);
  }
}

function modeOf(version: string | undefined): 'auto' | 'legacy' | { readonly pin: string } {
  if (version === undefined) return 'auto';
  if (version === '2025-11-25') return 'legacy';
  if (version === '2026-07-28') return { pin: version };
  throw new CliError('usage', `--mcp ${version}: expected 2026-07-28 or 2025-11-25.`);
}

function transportOf(
  { url, stdio, header }: ServerValues,
  environment: CommandIo['environment'],
): StreamableHTTPClientTransport | StdioClientTransport {
  if ((url === undefined) === (stdio === undefined))
    throw new CliError('usage', 'Pass --url or --stdio, to name one server.');
  if (stdio !== undefined) {
    const [command, ...args] = wordsOf(stdio);
    if (command === undefined) throw new CliError('usage', '--stdio: expected a command.');
    // The server is a command of this user, and reads its keys from the environment.
    const env = present(environment) as Record<string, string>;
    return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
  }
  const address = new URL(url !== undefined && URL.canParse(url) ? url : 'none:');
  // The message does not quote the address, which may contain credentials.
  if (!/^https?:$/.test(address.protocol) || `${address.username}${address.password}` !== '')
    throw new CliError(
      'usage',
      '--url: expected http://HOST/mcp or https://HOST/mcp, without credentials.',
    );
  return new StreamableHTTPClientTransport(address, {
    requestInit: { headers: headersOf(header) },
  });
}

/** Splits a command into its words. Quotes keep spaces. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

/** Reads headers of options. Throws `usage`, also for a header that `fetch` refuses. */
export function headersOf(given: readonly string[] = []): Headers {
  try {
    return new Headers(given.map((text) => text.trim().split(/\s*:(.*)/s, 2) as [string, string]));
  } catch {
    throw new CliError('usage', '--header: expected "Name: value".');
  }
}

/**
 * Codes of lost connections, and of servers that do not answer: of Node, of its `fetch`, and of the
 * SDK.
 */
const lostCode =
  /^(?:E(?:AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_(?:SOCKET|\w+_TIMEOUT)|CONNECTION_CLOSED|REQUEST_TIMEOUT)$/;

/**
 * Makes the error for an unusable server, and returns other errors unchanged. Never quotes headers,
 * which may contain credentials.
 */
function unusable(
  { url, stdio = '', mcp }: ServerValues,
  cause: unknown,
  isConnected: boolean,
): unknown {
  const causes = [...causesOf(cause)];
  const codes = causes.map((each) => String(Object(each).code ?? Object(each).name));
  const isLost = codes.some((code) => lostCode.test(code));
  const { status = 200 } = causes.find((each) => each instanceof SdkHttpError) ?? {};
  const isDown = status >= 500 || [401, 403, 429].includes(status);
  const isNoMcp = /SyntaxError|INVALID_RESULT|UNEXPECTED_CONTENT/.test(codes.join());
  if (cause instanceof CliError || (isConnected && !isLost && !isDown && !isNoMcp)) return cause;
  const [server, advice] =
    url === undefined
      ? [`The command '${stdio}'`, 'Start the command alone to see why.']
      : [`The server at ${url}`, 'Check the address, which usually ends with /mcp.'];
  const unreachable = (message: string): CliError =>
    new CliError('unreachable', message, { cause });
  if (isConnected && isLost)
    return unreachable(`${server} stopped answering. The outcome of the last request is unknown.`);
  if (codes.includes('ENOENT')) return unreachable(`There is no command '${wordsOf(stdio)[0]}'.`);
  if (causes.some((each) => (each as Error).message === 'bad port'))
    return unreachable(`\`fetch\` refuses the port of ${url}. Give the server another port.`);
  if (isLost && url !== undefined)
    return unreachable(`No server answers at ${url}. Start the server, or check the address.`);
  const refused = `${server} refuses the request (HTTP ${status}). Pass --header "Authorization: Bearer …".`;
  if (status === 401 || status === 403) return unreachable(refused);
  if (isDown) return unreachable(`${server} fails (HTTP ${status}). Its log may say why.`);
  const wanted = mcp === undefined ? 'an MCP server' : `a server of MCP ${mcp}`;
  return new CliError('not_mcp', `${server} does not answer as ${wanted}. ${advice}`, { cause });
}

function* causesOf(error: unknown): Generator {
  for (let current = error; current instanceof Error; current = current.cause) {
    yield current;
    if (current instanceof AggregateError) yield* current.errors;
  }
}
