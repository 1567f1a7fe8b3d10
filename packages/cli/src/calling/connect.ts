import { present } from '@mcp-saga/core/program';
import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CommandIo, ValuesOf } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { ownVersion } from '../input/own-version.ts';

/** Options that name a server. */
export const serverOptions = {
  url: { short: 'u', value: 'URL', help: 'address of a server over HTTP, such as http://127.0.0.1:3000/mcp' },
  stdio: { value: 'COMMAND', help: 'command of a server over stdio, such as "node server.js"' },
  header: {
    short: 'H',
    multiple: true,
    value: '"NAME: VALUE"',
    help: 'header of each request; repeat it for more',
  },
  mcp: { value: 'VERSION', help: '2026-07-28 or 2025-11-25 (default: the newest that the server has)' },
} as const;

/** Values of {@link serverOptions}. */
export type ServerValues = ValuesOf<typeof serverOptions>;

/**
 * Connects a client to a server, and closes the client after `use`.
 * @throws CliError `usage` for missing or wrong options, `unreachable` if there is no server, `not_mcp` for another kind of server,
 *   and what `use` throws
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
    { capabilities, versionNegotiation: { mode: modeOf(values.mcp) }, inputRequired: { maxRounds: 1_000 } },
  );
  let isConnected = false;
  try {
    await client.connect(transport, { signal, timeout: 15_000 }); // a server may start first
    isConnected = true;
    return await use(client);
  } catch (cause) {
    if (!isConnected) throw unusable(values, cause);
    if (!isGone(cause)) throw cause;
    const message = `The server at ${values.url ?? values.stdio} stopped answering. The outcome of the last request is unknown.`;
    throw new CliError('unreachable', message, { cause });
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
  { url, stdio, header = [] }: ServerValues,
  environment: CommandIo['environment'],
): StreamableHTTPClientTransport | StdioClientTransport {
  if ((url === undefined) === (stdio === undefined))
    throw new CliError('usage', 'Pass --url or --stdio, to name one server.');
  if (stdio !== undefined) {
    const [command = '', ...args] = stdio.trim().split(/\s+/);
    // The server is a command of this user, and reads its keys from the environment.
    const env = present(environment) as Record<string, string>;
    return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
  }
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url))
    throw new CliError('usage', `--url ${url}: expected an address such as http://127.0.0.1:3000/mcp.`);
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: headersOf(header) } });
}

/** Reads headers of options. Throws `usage`. */
export function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf(':');
      if (at < 1) throw new CliError('usage', '--header: expected "Name: value".');
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

/** Codes of failed connections: of Node, of its `fetch`, and of the SDK. */
const lostCode =
  /^(?:E(?:AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NOENT|NOTFOUND|PIPE|TIMEDOUT)|UND_ERR_SOCKET|CONNECTION_CLOSED)$/;

function isGone(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => lostCode.test(String(Object(cause).code)));
}

/** Makes the error for an unusable server. Never quotes headers, which may contain credentials. */
function unusable({ url, stdio }: ServerValues, cause: unknown): CliError {
  const server = url === undefined ? `The command '${stdio}'` : `The server at ${url}`;
  const unreachable = (message: string): CliError => new CliError('unreachable', message, { cause });
  const notMcp = (advice: string): CliError =>
    new CliError('not_mcp', `${server} does not answer as an MCP server. ${advice}`, { cause });
  if (url === undefined)
    return Object(cause).code === 'ENOENT'
      ? unreachable(`There is no command '${stdio?.trim().split(/\s+/)[0]}'.`)
      : notMcp('Start the command alone to see why.');
  if ([...causesOf(cause)].some((each) => (each as Error).message === 'bad port'))
    return unreachable(`\`fetch\` refuses the port of ${url}. Give the server another port.`);
  if (isGone(cause) || Object(cause).code === 'REQUEST_TIMEOUT')
    return unreachable(`No server answers at ${url}. Start the server, or check the address.`);
  const { status = 200 } = cause instanceof SdkHttpError ? cause : {};
  const refused = `${server} refuses the request (HTTP ${status}). Pass --header "Authorization: Bearer …".`;
  if (status === 401 || status === 403) return unreachable(refused);
  if (status >= 500) return unreachable(`${server} fails (HTTP ${status}). Its log may say why.`);
  return notMcp('Check the address, which usually ends with /mcp.');
}

function* causesOf(error: unknown): Generator {
  for (let current = error; current instanceof Error; current = current.cause) {
    yield current;
    if (current instanceof AggregateError) yield* current.errors;
  }
}
