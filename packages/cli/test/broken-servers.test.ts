import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createSagaHost, generateKey, type SagaHost } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bundleForNode,
  bundlePackages,
  runBundles,
} from '../../../test/support/bundle-for-node.ts';
import { isRunning, start, type Command } from '../../../test/support/command.ts';
import { startInTerminal } from '../../../test/support/terminal.ts';
import { bin, fixture, run } from './command-line.ts';
import { host, keys, refund } from './fixtures/sagas.ts';

const serverFile = fixture('server.ts');
const commands: Command[] = [];
const listeners: Server[] = [];

/** Starts a server process, and returns its URL. */
async function startProcess(env: { readonly [name: string]: string }): Promise<string> {
  const command = start(process.execPath, [...runBundles, serverFile], env);
  commands.push(command);
  const [url] = await command.printed(/http:\S+/);
  return url;
}

async function listening(server: Server): Promise<string> {
  listeners.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const silent: RequestListener = () => undefined;

const web = (answer: RequestListener): Promise<string> => listening(createHttpServer(answer));

/** Returns an address at which no server listens. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  const url = await listening(server);
  server.close();
  await once(server, 'close');
  return url;
}

/**
 * Sends the first requests of a call to one server, and requests that continue a saga to another: a
 * load balancer.
 */
function between(first: string, second: string): Promise<string> {
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const isLater = /"method":"tools\/resumeSaga"|"inputResponses"/.test(body);
    const own = ['connection', 'content-length', 'host'];
    const headers = Object.entries(request.headers).filter(([name]) => !own.includes(name));
    try {
      const answer = await fetch(isLater ? second : first, {
        method: 'POST',
        headers: headers as [string, string][],
        body,
      });
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? '',
      });
      response.end(await answer.text());
    } catch {
      request.socket.destroy();
    }
  };
  return web((request, response) => void forward(request, response));
}

const strange = generateKey('k1');
const ahead = 2 * 3_600_000;

beforeAll(async () => {
  await bundlePackages();
  await bundleForNode('packages/cli/test/fixtures/server.ts');
});
afterAll(() => {
  for (const server of listeners) server.close();
});

/**
 * What a command printed on both streams, with times, IDs, sizes, and addresses replaced, and its
 * exit code.
 */
async function golden(...given: Parameters<typeof run>): Promise<string> {
  const { code, printed, errors } = await run(...given);
  const text = [errors, printed].filter((part) => part !== '').join('\n');
  return `${normalized(text)}\n→ ${code}`;
}

function normalized(text: string): string {
  return text
    .replaceAll(process.execPath, 'node')
    .replaceAll(serverFile, 'server.ts')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://server')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/(sagaId +)\S+/g, '$1ID')
    .replaceAll(/\b\d+ bytes/g, 'N bytes')
    .replaceAll(/((?:bytes|Bytes) +)\d+/g, '$1N');
}

const call = (url: string, ...way: readonly string[]): Promise<string> =>
  golden(['call', 'refund', '--url', url, '--arg', 'amount=9', '--answer', 'sure=true', ...way]);

const sagaWay = (result: string): string =>
  `turn 1: the token has N bytes\nconfirm: answered by the options\n${result}`;
const toolWay = (result: string): string => `elicitation: answered by the options\n${result}`;

describe('mcp-saga call between two server processes', () => {
  let [ours, twin, stranger, late] = ['', '', '', ''];
  beforeAll(async () => {
    [ours, twin, stranger, late] = await Promise.all([
      startProcess({ SAGA_KEYS: keys }),
      startProcess({ SAGA_KEYS: keys }),
      startProcess({ SAGA_KEYS: strange }),
      startProcess({ SAGA_KEYS: keys, CLOCK_AHEAD: String(ahead) }),
    ] as const);
  });
  afterAll(async () => {
    for (const { pid } of commands) if (isRunning(pid)) process.kill(pid);
    await Promise.all(commands.map(({ ended }) => ended));
  });

  const calls = async (second: string): Promise<readonly string[]> => {
    const url = await between(ours, second);
    return [await call(url), await call(url, '--as', 'tool')];
  };

  it('continues a saga at the other process', async () => {
    expect(await calls(twin)).toEqual([sagaWay('refunded 9\n→ 0'), toolWay('refunded 9\n→ 0')]);
  });

  it('reports an invalid or expired token if the other process has other keys, or a later time', async () => {
    const refused = [
      sagaWay('The token of this saga is invalid or expired. Call the tool again.\n→ 1'),
      toolWay('The server answers with an error: Invalid or expired requestState\n→ 1'),
    ];
    expect(await calls(stranger)).toEqual(refused);
    expect(await calls(late)).toEqual(refused);
  });

  it('reports an unknown outcome if the other process is dead', async () => {
    const lost =
      'The server at http://server/mcp stopped answering. The outcome of the last request is unknown.\n→ 3';
    expect(await calls(await deadUrl())).toEqual([sagaWay(lost), toolWay(lost)]);
  });
});

const notMcp =
  'The server at http://server/mcp does not answer as an MCP server. Check the address, which usually ends with /mcp.\n→ 3';

describe.each(['call', 'doctor'])('mcp-saga %s with an unusable server', (name) => {
  const tried = async (url: string): Promise<string> =>
    name === 'call' ? await call(url) : await golden(['doctor', '-u', url]);

  it('suggests to start a stopped server', async () => {
    expect(await tried(await deadUrl())).toBe(
      'No server answers at http://server/mcp. Start the server, or check the address.\n→ 3',
    );
  });

  it('reports a port that no HTTP client may use', async () => {
    expect(await tried('http://127.0.0.1:6000/mcp')).toBe(
      '`fetch` refuses the port of http://server/mcp. Give the server another port.\n→ 3',
    );
  });

  it('reports a server that is not an MCP server', async () => {
    for (const [type, body] of [
      ['text/html', '<html>hello</html>'],
      ['application/json', '{"ok":true}'],
    ] as const) {
      const url = await web((_, response) => response.setHeader('content-type', type).end(body));
      expect(await tried(url)).toBe(notMcp);
    }
    expect(await tried(await web((_, response) => response.writeHead(404).end()))).toBe(notMcp);
    expect(await tried(await listening(createServer((socket) => socket.end('220 mail\r\n'))))).toBe(
      notMcp,
    );
  });

  it('reports an HTTP status of a refusal or a failure', async () => {
    expect(await tried(await web((_, response) => response.writeHead(401).end()))).toBe(
      'The server at http://server/mcp refuses the request (HTTP 401). Pass --header "Authorization: Bearer …".\n→ 3',
    );
    expect(await tried(await web((_, response) => response.writeHead(503).end()))).toBe(
      'The server at http://server/mcp fails (HTTP 503). Its log may say why.\n→ 3',
    );
  });

  it('reports a command of --stdio that does not exist, or is not an MCP server', async () => {
    const over = (command: string): Promise<string> =>
      golden([...(name === 'call' ? ['call', 'refund'] : ['doctor']), '--stdio', command]);
    expect(await over('no-such-command --now')).toBe("There is no command 'no-such-command'.\n→ 3");
    expect(await over(`${process.execPath} -p 1`)).toBe(
      "The command 'node -p 1' does not answer as an MCP server. Start the command alone to see why.\n→ 3",
    );
  });
});

describe('mcp-saga over --stdio', () => {
  const stdio = [process.execPath, ...runBundles, serverFile, '--stdio'].join(' ');
  const environment = { ...process.env, SAGA_KEYS: keys };

  it('calls a server with the environment of the command line', async () => {
    const args = ['call', 'refund', '--stdio', stdio, '--arg', 'amount=9', '--yes'];
    expect(await golden(args, { environment })).toBe(sagaWay('refunded 9\n→ 0'));
  });

  it('reports a valid server', async () => {
    expect(await golden(['doctor', '--stdio', stdio], { environment })).toBe(
      'ok    keys: 1 good: k1 seals new tokens.\nok    server: shop 1 answers, with 1 tool\nok    sagas: the saga methods are offered\nnote  limits: has no tasks: a client with tasks waits in its call, as all others do\n→ 0',
    );
  });
});

describe('mcp-saga inspect with a token that does not open', () => {
  const tokenOf = async (server: SagaHost): Promise<string> => {
    const turn = await server.start('refund', { amount: 9 });
    if (turn.status !== 'suspended') throw new Error('The saga did not ask');
    return turn.token;
  };
  const inspected = (token: string, given: string): Promise<string> =>
    golden(['inspect', '-', '--audience', 'shop'], {
      environment: { SAGA_KEYS: given },
      input: token,
    });

  it('reports the reason for each wrong key, without a key', async () => {
    const token = await tokenOf(host);
    expect(await inspected(token, strange)).toBe(
      'The token does not open (undecryptable). Check the keys, the audience, and that the token is complete.\n→ 1',
    );
    expect(await inspected(token, generateKey('k9'))).toBe(
      'The token does not open (unknown_key). None of the keys has its ID: check SAGA_KEYS.\n→ 1',
    );
    expect(await inspected(token.slice(0, -9), keys)).toBe(
      'The token does not open (malformed). Check that the token is complete.\n→ 1',
    );
    expect(await inspected('header.payload.signature', keys)).toMatch(
      /^This is not a whole saga token: expected five parts and a key ID\.[^]*\n→ 2$/,
    );
    // An encrypted token of another system.
    const other = ['{"alg":"dir","enc":"A256GCM"}', '', 'iv', 'text', 'tag'].map((part) =>
      Buffer.from(part).toString('base64url'),
    );
    expect(await inspected(other.join('.'), keys)).toMatch(
      /^This is not a whole saga token: [^]*\n→ 2$/,
    );
    const malformed = await inspected(token, 'k1:c2hvcnQ');
    expect(malformed).toMatch(/^The keys cannot be used: key 1 of 1 .*\n→ 2$/);
    expect(malformed).not.toContain('c2hvcnQ');
  });

  it('opens an expired token, and reports the expiry', async () => {
    const clock = (): number => Date.now() - ahead;
    const past = createSagaHost({ sagas: [refund], keys, name: 'shop', testing: { clock } });
    expect(await inspected(await tokenOf(past), keys)).toBe(
      [
        'tokenBytes  N',
        'keyId       k1',
        '',
        'saga       refund 2',
        'target     refund',
        'turn       1',
        'method     host',
        'principal  anonymous',
        'engine     1',
        'started    TIME',
        'sealed     TIME',
        'expired    TIME',
        '',
        'secrets    N bytes, 100 stored',
        'structure  N bytes, 0 stored',
        'client     N bytes, 0 stored',
        'server     N bytes, 12 stored',
        '',
        '  input parsed, N bytes',
        '→ 0',
      ].join('\n'),
    );
  });
});

describe('mcp-saga keys with unusable keys', () => {
  const withKeys = (args: readonly string[], given?: string): Promise<string> =>
    golden(['keys', ...args], { environment: { SAGA_KEYS: given } });

  it('reports the problem', async () => {
    expect(await withKeys(['check'])).toBe(
      'SAGA_KEYS is not set. Set SAGA_KEYS, or pass --env-file or --keys-env.\n→ 2',
    );
    expect(await withKeys(['check', '--env-file', '/nowhere'])).toBe(
      'There is no file /nowhere.\n→ 2',
    );
    expect(await withKeys(['check'], 'k1:short')).toMatch(
      /^key 1 of 1 is not .*\nTo make a key: .*\n→ 1$/,
    );
    expect(await withKeys(['rotate', '--phase', '1'], 'k1:short')).toMatch(
      /^The keys cannot be used: key 1 of 1 is not .*\n→ 2$/,
    );
    expect(await golden(['doctor'], { environment: { SAGA_KEYS: `${keys},${keys}` } })).toMatch(
      /^FAIL {2}keys: key 2 of 2 .*\n {6}To make a key: mcp-saga keys new\n→ 1$/,
    );
  });

  it('checks the keys beside a dead server', async () => {
    const environment = { SAGA_KEYS: keys };
    expect(await golden(['doctor', '-u', await deadUrl()], { environment })).toBe(
      [
        'ok    keys: 1 good: k1 seals new tokens.',
        'FAIL  server: No server answers at http://server/mcp. Start the server, or check the address.',
        '→ 1',
      ].join('\n'),
    );
  });
});

describe('mcp-saga in a terminal', () => {
  const typed = async (...args: readonly string[]): Promise<string> => {
    const { code, output } = await startInTerminal([...bin, ...args], { NO_COLOR: '1' }).ended;
    return `${normalized(output).replaceAll('\r', '')}→ ${code}`;
  };

  it('ends by Ctrl-C, with JSON, while a server never answers', async () => {
    const stopped = new AbortController();
    const url = await web(() => stopped.abort());
    const { code, printed } = await run(['call', 'x', '-u', url, '--json'], {
      signal: stopped.signal,
    });
    expect({ code, ...JSON.parse(printed) }).toMatchObject({
      code: 130,
      error: { code: 'stopped' },
    });
  });

  it.each([['--json'], []])(
    'ends the doctor by Ctrl-C while a server never answers: %s',
    async (...more) => {
      const url = await web(() => process.kill(doctor.pid, 'SIGINT'));
      const args = [...bin, 'doctor', '-u', url, ...more];
      const doctor = start(process.execPath, args);
      const { code, signal } = await doctor.ended;
      expect(code ?? signal).toBe(more.length > 0 ? 130 : 'SIGINT');
      const error = { error: { code: 'stopped', message: 'Stopped.' } };
      expect(doctor.output).toBe(more.length > 0 ? `${JSON.stringify(error, undefined, 2)}\n` : '');
    },
  );

  it('reports a server that accepts requests and never answers', async () => {
    expect(await typed('doctor', '-u', await web(silent))).toBe(
      'No server answers at http://server/mcp. Start the server, or check the address.\n→ 3',
    );
  });

  it('prints the same sentence and exit code', async () => {
    expect(await typed('doctor', '-u', await deadUrl())).toBe(
      'No server answers at http://server/mcp. Start the server, or check the address.\n→ 3',
    );
    expect(await typed('keys', 'check', '--keys-env', 'NO_KEYS')).toBe(
      'NO_KEYS is not set. Set NO_KEYS, or pass --env-file or --keys-env.\n→ 2',
    );
  });
});
