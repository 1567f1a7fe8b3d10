import { PassThrough } from 'node:stream';
import {
  all,
  elicit,
  memoryGuard,
  memoryQueue,
  saga,
  sleep,
  step,
  type Program,
  type SagaHost,
} from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioServerTransport as StdioV1 } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio, StdioServerTransport as StdioV2 } from '@modelcontextprotocol/server/stdio';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { connections, serverV1, serverV2, type Connected } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hooksInto, hostOf, nothingTold } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import type { RawMessage } from '../fixtures/raw.ts';
import { listenForSessions, sessionServers } from '../fixtures/session-servers.ts';

const inSessions = connections.filter(({ name }) => name.includes('in memory'));
const second = 1_000;
const minute = 60 * second;
const yes = { action: 'accept', content: {} } as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Holds something, asks, and ships it. */
class Shop {
  readonly did: string[] = [];
  readonly asked = deferred<undefined>();
  readonly undone = deferred<undefined>();
  readonly saga: Program;

  constructor() {
    this.saga = saga({ name: 'order', version: '1', forks: 'refuse' }, function* (this: void) {
      yield* hold;
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* ship;
      return 'shipped';
    });
    const hold = step('hold', () => void this.did.push('hold'), {
      compensate: () => {
        this.did.push('release');
        this.undone.resolve(undefined);
      },
    });
    const ship = step('ship', () => void this.did.push('ship'));
  }

  host(options: Parameters<typeof hostOf>[1] = {}, served: Program = this.saga): SagaHost {
    const clock = Object.assign(() => Date.now(), { now: 0 });
    // Hooks without a queue.
    const { onSuspended: _, onSettled: __, ...hooks } = hooksInto(nothingTold());
    const guard = { store: memoryGuard({ clock }) };
    return hostOf(served, { clock, guard, hooks, ...options }).host;
  }

  /** Asks a person who does not answer before `answer` resolves. */
  ask({ client }: Pick<Connected, 'client'>, answer: Promise<object>): void {
    answerBy(client, {
      elicit: async () => {
        this.asked.resolve(undefined);
        return await answer;
      },
    });
  }
}

const never = deferred<never>().promise;

/** Calls the tool, and resolves with its result or its error. */
function called({ client }: Pick<Connected, 'client'>): Promise<unknown> {
  const options = { timeout: 24 * 60 * minute };
  const more = 'getProtocolEra' in client ? [options] : [undefined, options];
  const calls = client as unknown as { callTool(...args: readonly unknown[]): Promise<unknown> };
  return calls.callTool({ name: 'order', arguments: {} }, ...more).catch((error: unknown) => error);
}

/** An event of a stream. */
interface SentEvent {
  readonly id: string;
  readonly message: RawMessage;
}

/** Keeps the events of streams, as a server with resumable streams does. */
function memoryEvents() {
  const stored: (SentEvent & { readonly stream: string })[] = [];
  return {
    storeEvent: async (stream: string, message: RawMessage) => {
      const id = `${stored.length}`;
      stored.push({ id, stream, message });
      return id;
    },
    getStreamIdForEventId: async (id: string) => stored[Number(id)]?.stream,
    replayEventsAfter: async (
      last: string,
      { send }: { readonly send: (id: string, message: RawMessage) => Promise<void> },
    ) => {
      const { stream } = stored[Number(last)] ?? { stream: '' };
      for (const event of stored.slice(Number(last) + 1))
        if (event.stream === stream) await send(event.id, event.message);
      return stream;
    },
  };
}

/** Reads the events of a response, as they arrive. */
async function* eventsOf({ body }: Response): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body as ReadableStream<Uint8Array>) {
    const text = decoder.decode(bytes, { stream: true });
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id = ''] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data = ''] = /^data: ({.*)$/m.exec(block) ?? [];
      if (data !== '') yield { id, message: JSON.parse(data) as RawMessage };
    }
  }
}

async function until(
  events: AsyncGenerator<SentEvent>,
  isLast: (event: SentEvent) => boolean,
): Promise<SentEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error('The stream has ended.');
    if (isLast(value)) return value;
  }
}

/** Awaits a response whose server sets timers without a delay, which only the test lets pass. */
async function soon<T>(response: Promise<T>): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  void response.then(end, end);
  while (!over.signal.aborted) {
    await vi.advanceTimersByTimeAsync(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await response;
}

/** A session of a client that sends raw messages. */
async function openSession(url: URL) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  };
  const post = (message: object, signal: AbortSignal | null = null): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    return fetch(url, { method: 'POST', headers, body, signal });
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'raw', version: '1' },
  };
  const { headers: sent } = await soon(post({ id: 0, method: 'initialize', params }));
  headers['mcp-session-id'] = sent.get('mcp-session-id') ?? '';
  await post({ method: 'notifications/initialized' });
  const get = (lastEvent: string): Promise<Response> =>
    fetch(url, { headers: { ...headers, 'last-event-id': lastEvent } });
  return { post, get };
}

describe.each(sessionServers)(
  'a client that closes its connection while its user is asked, $name',
  (server) => {
    test.each([
      ['', {}],
      [' beside a queue', { queue: memoryQueue() }],
    ])('[E3] [E8] has its saga undone%s', async (_, options) => {
      const shop = new Shop();
      const listening = await listenForSessions(server, shop.host(options));
      onTestFinished(() => listening.close());
      const client = new Client({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } });
      shop.ask({ client }, never);
      await client.connect(new StreamableHTTPClientTransport(listening.url));
      const call = called({ client });
      await shop.asked.promise;
      await client.close();
      expect(await call).toBeInstanceOf(Error);
      await listening.isCut;
      if (server.tells !== true) await vi.advanceTimersByTimeAsync(20 * second);
      await shop.undone.promise;
      expect(shop.did).toEqual(['hold', 'release']);
    });
  },
);

describe.each(sessionServers)('a client whose stream can be fetched again, $name', (server) => {
  test('[E3] may come back to the question after its connection was cut', async () => {
    const shop = new Shop();
    const eventStore = memoryEvents() as never;
    const listening = await listenForSessions(server, shop.host(), { eventStore });
    onTestFinished(() => listening.close());
    const session = await openSession(listening.url);
    const cut = new AbortController();
    const call = { id: 1, method: 'tools/call', params: { name: 'order', arguments: {} } };
    const events = eventsOf(await soon(session.post(call, cut.signal)));
    const question = await until(events, ({ message }) => message.method === 'elicitation/create');
    cut.abort();
    await listening.isCut;
    await vi.advanceTimersByTimeAsync(20 * second);
    const again = eventsOf(await soon(session.get(question.id)));
    const ping = await until(again, ({ message }) => message.method === 'ping');
    await session.post({ id: ping.message.id, result: {} });
    await vi.advanceTimersByTimeAsync(30 * second);
    await session.post({ id: question.message.id, result: yes });
    const { message } = await until(again, (event) => event.message.id === 1);
    expect(message.result).toMatchObject({ content: [{ text: 'shipped' }] });
    expect(shop.did).toEqual(['hold', 'ship']);
  });
});

describe.each(['version 1', 'version 2', 'serveStdio'])(
  'a client over stdio that closes the input of its server, %s',
  (name) => {
    test('[E3] has its saga undone at once', async () => {
      const shop = new Shop();
      const host = shop.host();
      const [input, output] = [new PassThrough(), new PassThrough()];
      if (name === 'version 1') await serverV1(host).connect(new StdioV1(input, output));
      else if (name === 'version 2') await serverV2(host).connect(new StdioV2(input, output));
      else serveStdio(() => serverV2(host), { transport: new StdioV2(input, output) });
      const say = (message: object): void =>
        void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const initialize = {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'c', version: '1' },
      };
      say({ id: 0, method: 'initialize', params: initialize });
      say({ method: 'notifications/initialized' });
      say({ id: 1, method: 'tools/call', params: { name: 'order', arguments: {} } });
      for await (const line of output) if (String(line).includes('elicitation/create')) break;
      input.end();
      await shop.undone.promise;
      expect(shop.did).toEqual(['hold', 'release']);
    });
  },
);

describe.each(inSessions)('a client whose user is asked, $name', ({ connect }) => {
  /** Counts the pings that reach the client, which answers them by `answer`. */
  function pinged({ client }: Connected, answer: () => Promise<object>): { count: number } {
    const pings = { count: 0 };
    const { _requestHandlers: handlers } = client as unknown as {
      readonly _requestHandlers: Map<string, () => Promise<object>>;
    };
    handlers.set('ping', () => {
      pings.count += 1;
      return answer();
    });
    return pings;
  }

  test('[E3] is asked for a sign of life every 20 s, and loses nothing in an hour of silence', async () => {
    const shop = new Shop();
    const connection = await connect(shop.host());
    const pings = pinged(connection, async () => ({}));
    const answer = deferred<object>();
    shop.ask(connection, answer.promise);
    const call = called(connection);
    await shop.asked.promise;
    await vi.advanceTimersByTimeAsync(50 * minute);
    expect(pings.count).toBe(150);
    answer.resolve(yes);
    expect(await call).toMatchObject({ content: [{ text: 'shipped' }] });
    await vi.advanceTimersByTimeAsync(minute);
    expect(pings.count).toBe(150);
    expect(shop.did).toEqual(['hold', 'ship']);
    await connection.close();
  });

  test('[E3] is there if it answers pings with an error', async () => {
    const shop = new Shop();
    const connection = await connect(shop.host());
    pinged(connection, () => {
      throw Object.assign(new Error('Method not found'), { code: -32_601 });
    });
    const answer = deferred<object>();
    shop.ask(connection, answer.promise);
    const call = called(connection);
    await shop.asked.promise;
    await vi.advanceTimersByTimeAsync(10 * minute);
    answer.resolve(yes);
    expect(await call).toMatchObject({ content: [{ text: 'shipped' }] });
    await connection.close();
  });

  test('[E3] is gone after two unanswered pings, not after one', async () => {
    const shop = new Shop();
    const connection = await connect(shop.host());
    let isSilent = false;
    const pings = pinged(connection, () => (isSilent ? never : Promise.resolve({})));
    shop.ask(connection, never);
    void called(connection);
    await shop.asked.promise;
    for (let times = 0; times < 3; times += 1) {
      isSilent = true;
      await vi.advanceTimersByTimeAsync(20 * second);
      isSilent = false;
      await vi.advanceTimersByTimeAsync(20 * second);
    }
    expect(pings.count).toBe(6);
    expect(shop.did).toEqual(['hold']);
    isSilent = true;
    await vi.advanceTimersByTimeAsync(60 * second);
    await shop.undone.promise;
    expect(shop.did).toEqual(['hold', 'release']);
    await connection.close();
  });

  test('[E3] is missed even if the saga continues beside the question', async () => {
    const polling = saga({ name: 'order', version: '1', forks: 'refuse' }, function* () {
      yield* all({
        sure: elicit('sure', { message: 'Sure?', schema: Empty }),
        later: (function* () {
          for (let times = 0; times < 60; times += 1) yield* sleep(5 * second);
        })(),
      });
      return 'shipped';
    });
    const shop = new Shop();
    const connection = await connect(shop.host({}, polling));
    pinged(connection, () => never);
    shop.ask(connection, never);
    const call = called(connection);
    await shop.asked.promise;
    await vi.advanceTimersByTimeAsync(70 * second);
    expect(await call).toBeInstanceOf(Error);
    await connection.close();
  });

  test('[W7] is not undone if it may resume the call', async () => {
    const shop = new Shop();
    const connection = await connect(shop.host({ resumableRequests: { bearer: 'accept' } }), {
      capabilities: { elicitation: {} },
      experimental: { resumableRequests: {} },
    });
    pinged(connection, () => never);
    shop.ask(connection, never);
    const call = called(connection);
    await shop.asked.promise;
    await vi.advanceTimersByTimeAsync(70 * second);
    expect(await call).toBeInstanceOf(Error);
    expect(shop.did).toEqual(['hold']);
    await connection.close();
  });
});
