import {
  generateKey,
  memoryStore,
  type ClientStep,
  type McpServerLike,
  type SagaHost,
  type SagaHostOptions,
  type SagaStore,
} from '@mcp-saga/server';
import { hostOf, type User } from '@mcp-saga/server/internal';
import type * as sdkModule from '@modelcontextprotocol/server';
import type { McpServer, Transport } from '@modelcontextprotocol/server';
import { VirtualClock } from '../values/virtual-clock.ts';
import type { Effect } from '../world/world-effects.ts';
import { defaultClock } from '../world/world.ts';
import { WireCut } from './cutter.ts';
import { WireClient, type WireClientOptions } from './wire-client.ts';
import { WireWorld, wiredProgram } from './wired-program.ts';

/** Options of a host under test: those of production, and a clock. */
export interface WireHostOptions extends Omit<Partial<SagaHostOptions>, 'sagas' | 'store'> {
  readonly sagas: SagaHostOptions['sagas'];
  /** Store of the host. `false`: it has none. Default: used tokens are kept in memory. */
  readonly store?: SagaStore | false;
  /** Start of its clock: a date, or milliseconds since the epoch. @default 2030-01-15T12:00:00Z */
  readonly clock?: Date | number;
}

/** Options of the server around the host. */
export interface WireServerOptions {
  /**
   * Makes the `McpServer` of `@modelcontextprotocol/server` that serves the sagas, with other
   * tools, prompts, or resources.
   */
  readonly server?: () => McpServerLike;
  /** Environment of the runtime, for `services` of the host. */
  readonly env?: unknown;
  /**
   * Makes the user of a client with a name, as `auth.authenticate` of the server would return it.
   * Default: auth info of the SDK, with the name as `subject`.
   */
  readonly user?: (name: string) => User;
}

/** A host and its server, in memory. */
export class TestHost {
  /** Clock of the host. Advances by the requested wait when a client returns. */
  readonly clock: Pick<VirtualClock, 'now' | 'pass' | 'sleep' | 'during'>;
  readonly #world: WireWorld;
  readonly #makeHost: () => SagaHost;
  readonly #server: WireServerOptions;
  readonly #works: Promise<unknown>[] = [];
  readonly #clients: WireClient[] = [];
  #calls = 0;

  constructor(host: SagaHost | WireHostOptions, server: WireServerOptions) {
    const isOwn = !('attach' in host);
    const start = isOwn ? (host.clock ?? defaultClock) : Date.now();
    this.#world = new WireWorld(new VirtualClock(start instanceof Date ? start.getTime() : start));
    this.clock = isOwn ? this.#world.clock : realClock;
    this.#server = server;
    this.#makeHost = isOwn ? hostsOf(host, this.#world) : () => host;
  }

  /** Effects of the steps, by idempotency key. Empty for an existing host. */
  get effects(): readonly Effect[] {
    return this.#world.ledger.effects;
  }

  /** Questions of the sagas, in order. Empty for an existing host. */
  get asked(): readonly ClientStep[] {
    return this.#world.asked;
  }

  /**
   * Creates a client: the `Client` of `@modelcontextprotocol/client`, in memory. Throws `script`
   * for an unknown option.
   */
  client(options: WireClientOptions = {}): WireClient {
    const client = new WireClient(this, options, (call) => this.#during(call));
    this.#clients.push(client);
    return client;
  }

  /**
   * Answers an HTTP request of your own client. `authorization: Bearer NAME` authenticates a user.
   * Throws `WireCut`.
   */
  readonly fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const sdk = await this.#ready();
    const { cutter } = this.#world;
    const request = new Request(url, init);
    const { body } = init ?? {};
    const isLost = cutter.sending(typeof body === 'string' ? (JSON.parse(body) as object) : {});
    const gone = new AbortController();
    const closed = cutter.opened(() => gone.abort(new WireCut()));
    const signal = AbortSignal.any([request.signal, gone.signal]);
    const handler = sdk.createMcpHandler(() => this.#createServer(sdk));
    const user = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    const response = await Promise.race([
      handler.fetch(new Request(request, { signal }), this.#authOf(user)),
      rejection(gone.signal),
    ]);
    if (isLost) {
      await response.text();
      throw new WireCut();
    }
    const through = new TransformStream<Uint8Array, Uint8Array>({ flush: closed });
    return new Response(
      response.body?.pipeThrough(through, { signal: gone.signal }) ?? null,
      response,
    );
  };

  /** Opens a session of MCP 2025-11-25 for your own client. A cut closes the session. */
  async session(user?: string): Promise<Transport> {
    const sdk = await this.#ready();
    const { cutter } = this.#world;
    const [near, far] = sdk.InMemoryTransport.createLinkedPair();
    await this.#createServer(sdk).connect(far);
    const [send, answer] = [near.send.bind(near), far.send.bind(far)];
    const lost = new Set<unknown>();
    near.send = async (message, options) => {
      await this.#ready();
      if ('id' in message && cutter.sending(message)) lost.add(message.id);
      await send(message, { ...options, ...this.#authOf(user) });
    };
    far.send = (message, options) =>
      'id' in message && !('method' in message) && lost.has(message.id)
        ? near.close()
        : answer(message, options);
    cutter.opened(() => void near.close());
    return near;
  }

  /**
   * Cuts open connections after a step with this ID, or drops the answer to the request with this
   * number, from 1, over all clients. A cut aborts the request at the server; a dropped answer does
   * not. A cut closes a session.
   *
   * Plan a cut right before the call. A call that ends without the step throws, and so does `close`
   * after too few requests.
   */
  cutAfter(after: string | number, { times = 1 }: { readonly times?: number } = {}): this {
    this.#world.cutter.plan(after, times);
    return this;
  }

  /** Closes its clients. Throws `script` if a planned cut never happened. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    this.#world.cutter.assertMet(true);
  }

  async #during<T>(call: Promise<T>): Promise<T> {
    this.#calls += 1;
    try {
      await call;
    } finally {
      this.#calls -= 1;
    }
    // The step may run in another call that is still open.
    if (this.#calls === 0) this.#world.cutter.assertMet(false);
    return call;
  }

  /**
   * Waits for work that continues after earlier responses, to avoid races, and for the end of a
   * wait.
   */
  async #ready(): Promise<typeof sdkModule> {
    while (this.#works.length > 0) await this.#works.shift();
    this.#world.awaitDue();
    return await import('@modelcontextprotocol/server');
  }

  #authOf(name: string | undefined): object {
    if (name === undefined) return {};
    const info = { token: 'test', clientId: 'test', scopes: [], extra: { user: name } };
    const user = this.#server.user?.(name) ?? { ...info, subject: name, client: 'test' };
    return { authInfo: user };
  }

  #createServer({ McpServer: Server }: typeof sdkModule): McpServer {
    const { server, env } = this.#server;
    const mcp =
      (server?.() as McpServer | undefined) ??
      new Server({ name: 'test', version: '1' }, { capabilities: { logging: {} } });
    this.#makeHost().attach(mcp, { env, waitUntil: (work) => void this.#works.push(work) });
    return mcp;
  }
}

/**
 * Tests a whole server over the wire, in memory. Each request reaches a host that shares only the
 * key, the used tokens, and the tasks with the others, as in a fleet. An existing host keeps its
 * clock.
 * @example
 * ```ts
 * import { elicit, saga } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
 *   return 'ordered';
 * });
 * const wire = testHost({ sagas: [order] });
 * const { content } = await wire.client({ answers: { sure: { sure: true } } }).call('order');
 * await wire.close();
 * ```
 */
export function testHost(
  host: SagaHost | WireHostOptions,
  server: WireServerOptions = {},
): TestHost {
  return new TestHost(host, server);
}

const realClock: TestHost['clock'] = {
  now: () => Date.now(),
  pass: () => undefined,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  during: async (work) => await work,
};

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function hostsOf(options: WireHostOptions, world: WireWorld): () => SagaHost {
  const { sagas, clock: _, store, ...given } = options;
  const { clock } = world;
  const now = (): number => clock.now();
  const hasTasks = sagas.some(({ task }) => task !== undefined);
  const needsStore = store === undefined && (hasTasks || sagas.some(({ reuse }) => reuse !== 'ok'));
  const shared: Omit<SagaHostOptions, 'sagas'> = {
    name: 'test',
    ...(needsStore ? { store: memoryStore({ clock: now }), shortTokens: false } : {}),
    hooks: { onTurn: () => undefined, onReject: () => undefined, onWarning: () => undefined },
    ...(store ? { store } : {}),
    ...given,
    anonymous: {
      calls: 'accept',
      resumableRequests: 'accept',
      ...(hasTasks && { tasks: 'accept' }),
      ...given.anonymous,
    },
    testing: {
      environment: 'production',
      ...given.testing,
      clock: now,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
    keys: options.keys ?? generateKey(),
  };
  return () => hostOf({ ...shared, sagas: sagas.map((program) => wiredProgram(program, world)) });
}
