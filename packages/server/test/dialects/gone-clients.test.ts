import {
  all,
  elicit,
  memoryStore,
  memoryQueue,
  saga,
  sleep,
  step,
  type Program,
  type SagaHost,
} from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { connections, type Connected } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import type { RawMessage } from '../fixtures/raw.ts';
import { eventsOf, openRawSession, until, type SentEvent } from '../fixtures/raw-session.ts';
import { listenForSessions, sessionServers } from '../fixtures/session-servers.ts';
import { overStdio, stdioVersions } from '../fixtures/stdio-lines.ts';

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
    this.saga = saga({ name: 'order', version: '1' }, function* (this: void) {
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
    return hostOf(served, { clock, store: memoryStore({ clock }), ...options }).host;
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
    const session = await soon(openRawSession(listening.url, { elicitation: {} }));
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

describe.each(stdioVersions)(
  'a client over stdio that closes the input of its server, %s',
  (version) => {
    test('[E3] has its saga undone at once', async () => {
      const shop = new Shop();
      const host = shop.host();
      const lines = await overStdio(host, version, { elicitation: {} });
      lines.send({ id: 1, method: 'tools/call', params: { name: 'order', arguments: {} } });
      await lines.first(({ method }) => method === 'elicitation/create');
      lines.end();
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
    const polling = saga({ name: 'order', version: '1' }, function* () {
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
    const connection = await connect(shop.host({ anonymous: { resumableRequests: 'accept' } }), {
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
