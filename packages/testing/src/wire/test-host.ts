import {
  createSagaHost,
  generateKey,
  memoryGuard,
  memoryTaskStore,
  type McpServerLike,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import type { McpServer } from '@modelcontextprotocol/server';
import { EffectLedger, type Effect } from '../world/effect-ledger.ts';
import { defaultClock } from '../world/world.ts';
import { assertKnownOptions, type NamesOf } from '../values/known-options.ts';
import { VirtualClock } from '../values/virtual-clock.ts';
import { Cutter } from './channel/cutter.ts';
import type { AuthInfo } from './channel/channel.ts';
import { info, SdkChannel, type Sdk } from './channel/sdk-channel.ts';
import { Answerer } from './channel/wire-answers.ts';
import { capabilitiesOf, eraOf } from './channel/ways.ts';
import { WireWorld, wiredProgram } from './channel/wired-program.ts';
import { WireClient, type WireClientOptions } from './wire-client.ts';

/** Options of a host under test: those of production, and a clock. */
export interface WireHostOptions extends Omit<Partial<SagaHostOptions>, 'sagas'> {
  readonly sagas: SagaHostOptions['sagas'];
  /** Start of its clock: a date, or milliseconds since the epoch. Default: 2030-01-15T12:00:00Z. */
  readonly clock?: Date | number;
}

/** Options of the server around the host. */
export interface WireServerOptions {
  /** Makes the `McpServer` of `@modelcontextprotocol/server` that serves the sagas, with other tools, prompts, or resources. */
  readonly server?: () => McpServerLike;
  /** Passed to steps as `context`. */
  readonly context?: unknown;
}

const clientNames: NamesOf<WireClientOptions> = {
  dialect: true,
  era: true,
  answers: true,
  user: true,
  authInfo: true,
  capabilities: true,
  token: true,
  whenCut: true,
};

/** A host for clients in memory. */
export class TestHost {
  /** Clock of the host. Waits advance it. */
  readonly clock: { now(): number; pass(ms: number): void };
  readonly #world: WireWorld;
  readonly #makeHost: () => SagaHost;
  readonly #server: WireServerOptions;
  /** `true` if the test sets the clock. */
  readonly #isOwn: boolean;
  readonly #works: Promise<unknown>[] = [];
  readonly #clients: WireClient[] = [];
  #calls = 0;

  constructor(host: SagaHost | WireHostOptions, server: WireServerOptions) {
    const start = 'attach' in host ? Date.now() : (host.clock ?? defaultClock);
    const clock = new VirtualClock(start instanceof Date ? start.getTime() : start);
    this.clock = clock;
    this.#world = new WireWorld({ clock, cutter: new Cutter(), ledger: new EffectLedger() });
    this.#server = server;
    this.#isOwn = !('attach' in host);
    this.#makeHost = 'attach' in host ? () => host : hostsOf(host, this.#world);
  }

  /** Effects of its steps, by idempotency key. Empty for a host that was passed as it is. */
  get effects(): readonly Effect[] {
    return this.#world.ledger.effects;
  }

  /** Creates a client in memory. Throws `script` for an unknown option. */
  client(options: WireClientOptions): WireClient {
    assertKnownOptions('testHost().client', options, clientNames);
    const { dialect, user, answers = {} } = options;
    const era = eraOf(dialect, options.era);
    const inSession = dialect === 'push' || (dialect === 'resumable requests' && era === '2025-11-25');
    const channel = new SdkChannel({
      era,
      capabilities: options.capabilities ?? capabilitiesOf({ dialect, era }),
      authInfo:
        options.authInfo ??
        (user === undefined ? undefined : { token: 'test', clientId: 'test', scopes: [], extra: { user } }),
      createServer: (sdk) => this.#createServer(sdk),
      cutter: this.#world.cutter,
      inSession,
    });
    const client = new WireClient(options, {
      channel,
      answerer: new Answerer(answers, this.#world),
      wait: (ms) => this.#wait(ms),
      during: (call) => this.#during(call),
    });
    this.#clients.push(client);
    return client;
  }

  /**
   * Cuts open connections after a step with this ID, or drops the answer to the request with this number, from 1, over all
   * clients. A cut aborts the request at the server; a dropped answer does not.
   *
   * Plan a cut right before the call. A call that ends without the step throws, and so does `close` after too few requests.
   */
  cutAfter(after: string | number, { times = 1 }: { readonly times?: number } = {}): this {
    this.#world.cutter.plan(after, times);
    return this;
  }

  /** Closes the sessions of its clients. Throws `script` if a planned cut never happened. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    this.#world.cutter.assertMet(true);
  }

  async #during<T>(call: () => Promise<T>): Promise<T> {
    this.#calls += 1;
    let result: T;
    try {
      result = await call();
    } finally {
      this.#calls -= 1;
    }
    // Another one that still goes on may be the one that is meant.
    if (this.#calls === 0) this.#world.cutter.assertMet(false);
    return result;
  }

  #createServer({ McpServer: Server }: Sdk): McpServer {
    const { server, context } = this.#server;
    const mcp = (server?.() as McpServer | undefined) ?? new Server(info, { capabilities: { logging: {} } });
    this.#makeHost().attach(mcp, { context, waitUntil: (work) => void this.#works.push(work) });
    return mcp;
  }

  async #wait(ms: number): Promise<void> {
    if (this.#isOwn) this.#world.clock.pass(ms);
    else if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    while (this.#works.length > 0) await this.#works.shift();
  }
}

/**
 * Tests a whole server over the wire, in memory. Each request reaches a host that shares only the key, the guard, and the store
 * of tasks with the others, as in a fleet. A host that is passed as it is keeps its own clock.
 *
 * @example
 * ```ts
 * const client = testHost({ sagas: [order] }).client({ dialect: 'saga methods', answers: { sure: { sure: true } } });
 * expect(await client.call('order', { cents: 900 })).toMatchObject({ structuredContent: { id: 1 } });
 * ```
 */
export function testHost(host: SagaHost | WireHostOptions, server: WireServerOptions = {}): TestHost {
  return new TestHost(host, server);
}

function hostsOf(options: WireHostOptions, world: WireWorld): () => SagaHost {
  const { sagas, clock: _, ...given } = options;
  const { clock } = world;
  const now = (): number => clock.now();
  const isGuarded = sagas.some(({ forks }) => forks === 'refuse');
  const shared: Omit<SagaHostOptions, 'sagas'> = {
    audience: 'test',
    resumableRequests: { bearer: 'accept' },
    ...(isGuarded ? { guard: { store: memoryGuard({ clock: now }) } } : {}),
    ...(sagas.some(({ task }) => task !== undefined)
      ? { tasks: { store: memoryTaskStore(now), bearer: 'accept' } }
      : {}),
    hooks: { onTurn: () => undefined, onReject: () => undefined, onWarning: () => undefined },
    ...given,
    auth: { principal: userOf, ...given.auth },
    testing: {
      environment: 'production',
      ...given.testing,
      clock: now,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
    keys: options.keys ?? generateKey(),
  };
  return () => createSagaHost({ ...shared, sagas: sagas.map((program) => wiredProgram(program, world)) });
}

function userOf(authInfo: unknown): { readonly subject: string; readonly client: string } {
  const { clientId, extra } = authInfo as AuthInfo;
  const user = extra?.['user'];
  return { subject: typeof user === 'string' ? user : clientId, client: clientId };
}
