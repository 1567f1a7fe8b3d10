/**
 * One run of a contender:
 *
 * 1. A client calls the tool, and the provider refunds.
 * 2. The fault: the response is lost, or the process dies, or both.
 * 3. A new connection sends the same call again, as often as needed for an answer.
 *
 * What must never happen: the first call fails for another reason, or before the refund. `play` fails
 * then, since the run would say nothing. Only where a first request refunds nothing on purpose, its
 * response is lost before the refund.
 */
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Fetch } from '../interop/support/http-server.ts';
import { keyField, type Contender } from './contender.ts';
import type { Provider } from './provider.ts';

/** What goes wrong in a run. */
export type Fault =
  /** The response is lost. The process lives, and gets the second call. */
  | 'response'
  /** The response is lost, and the process is killed. Another process gets the second call. */
  | 'responseAndProcess'
  /** The process is killed after the refund, before it reads the reply of the provider. */
  | 'process';

/** A running server. */
export interface Server {
  readonly url: string;
  /** Sends a request to the server. */
  readonly fetch: Fetch;
  /** Ends the process without a warning. */
  readonly kill: () => Promise<void>;
}

/** What came of a run. */
export interface Outcome {
  /** Requests to refund that reached the provider. */
  readonly requests: number;
  /** Refunds that the provider made, and that were not taken back. */
  readonly refunds: number;
  /** What the second call got: the errors of the connection, if any, and then its result. */
  readonly answers: readonly string[];
  /** Time from the second call to its result, in seconds. */
  readonly seconds: number;
}

/** The parts of a run that depend on where the servers run. */
export interface Stage {
  readonly provider: Provider;
  readonly start: () => Promise<Server>;
}

const order = { order: 'A-17', euros: 20 };

// A client that gets no answer gives up at some time.
const mostCalls = 10;

/** Plays a fault with a contender. */
export async function play(
  { hasKey, refundsLater = false, loses = 'first' }: Contender,
  fault: Fault,
  { provider, start }: Stage,
): Promise<Outcome> {
  const meta = hasKey ? { [keyField]: randomUUID() } : undefined;
  let server = await start();
  try {
    if (fault === 'process') {
      const { kill } = server;
      provider.onRefund = async () => {
        provider.onRefund = async () => undefined;
        await kill();
      };
    }
    let isLost = false;
    const losing: Fetch = async (request) => {
      const isCall =
        request.method === 'POST' && (await request.clone().text()).includes(callMethod);
      const response = await server.fetch(request);
      if (fault === 'process' || isLost || !isCall) return response;
      // The server has sent everything when the body has ended.
      await response.clone().text();
      if (loses === 'afterRefund' && provider.requests === 0) return response;
      isLost = true;
      throw new TypeError('fetch failed: the connection was cut');
    };
    const first = await call(server.url, losing, meta).catch((error: unknown) => error);
    const hasRefunded = provider.requests > 0;
    const isBefore = refundsLater && loses === 'first' && fault !== 'process';
    if (hasRefunded === isBefore || (fault !== 'process' && !isLost))
      throw new Error('The first call did not end by the fault', { cause: first });
    if (fault !== 'response') {
      await server.kill();
      server = await start();
    }
    const since = performance.now();
    const answers = await callAgain(server, meta);
    const seconds = (performance.now() - since) / 1000;
    if (provider.requests === 0) throw new Error(`Nothing was refunded: ${answers.join('; ')}`);
    return { requests: provider.requests, refunds: provider.refunds, answers, seconds };
  } finally {
    await server.kill();
  }
}

const callMethod = '"tools/call"';

/** Repeats the call until it has a result. */
async function callAgain(server: Server, meta: Meta): Promise<readonly string[]> {
  const answers: string[] = [];
  while (answers.length < mostCalls) {
    try {
      return [...answers, await call(server.url, server.fetch, meta)];
    } catch (error) {
      answers.push((error as Error).message);
    }
  }
  return answers;
}

type Meta = Readonly<Record<string, string>> | undefined;

/** Connects, and calls the only tool. Returns its text, which may say that the tool has failed. */
async function call(url: string, send: Fetch, meta: Meta): Promise<string> {
  const client = new Client(
    { name: 'shop-client', version: '1.0.0' },
    // A client that can be asked comes back by itself.
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (target, init) => send(new Request(target, init)),
    requestInit: { headers: { authorization: 'Bearer ada' } },
  });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    const name = tools[0]?.name ?? '';
    const result = await client.callTool({
      name,
      arguments: order,
      ...(meta === undefined ? {} : { _meta: meta }),
    });
    const [content] = result.content as readonly { readonly text?: string }[];
    return content?.text ?? '';
  } finally {
    await client.close();
  }
}
