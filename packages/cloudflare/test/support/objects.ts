import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { DurableObjectNamespaceLike } from '@mcp-saga/cloudflare';
import type { QueueMessage } from '@mcp-saga/server';
import type { QueueConsumer } from '@mcp-saga/server/stores';
import { bundleForWorkerd } from '../../../../test/support/bundle-for-workerd.ts';
import { startMiniflare } from '../../../../test/support/miniflare.ts';

/** State of an object. */
export interface ObjectState {
  /** `true` while an alarm is due or runs. */
  readonly isBusy: boolean;
  readonly hasAlarm: boolean;
  /** Names of the entries. */
  readonly names: readonly string[];
}

/** Empty Durable Objects, with a clock. */
export interface FreshObjects {
  /** Binding of a Worker. Each reply goes over HTTP. */
  readonly namespace: DurableObjectNamespaceLike;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Advances the clock. Resolves when all alarms that are due have ended, or `stop` has resolved.
   */
  readonly pass: (ms: number, stop?: Promise<void>) => Promise<void>;
  /** Receives the messages of the queue. Undefined: the host is down. */
  receive: QueueConsumer['deliver'] | undefined;
  /** Ends an object as a crash does. Its next request or alarm starts the object again. */
  readonly abort: (object: string) => Promise<void>;
  /** Lets the alarm of an object ring now, whatever its time is, and waits for the end. */
  readonly ring: (object: string) => Promise<void>;
  readonly stateOf: (object: string) => Promise<ObjectState>;
  /** Ends all objects whose alarms run. */
  readonly abortBusy: () => Promise<void>;
}

/** Durable Objects in workerd. */
export interface Workerd {
  /** Address of the Worker. */
  readonly address: URL;
  /** Number of effects of `host-worker.ts`. */
  readonly effects: () => number;
  /** Output of the Worker. */
  readonly log: () => string;
  make(prefix?: string): FreshObjects;
  close(): Promise<void>;
}

/**
 * Starts a Worker with Durable Objects in workerd. @param entry - file of the Worker in this folder
 */
export async function startObjects(entry = 'worker.ts', bindings: object = {}): Promise<Workerd> {
  let passed = 0;
  let made = 0;
  let effects = 0;
  let current: { readonly prefix: string; readonly objects: FreshObjects } | undefined;
  let ringing: (() => void)[] = [];
  const nextRing = (): Promise<void> =>
    new Promise((resolve) => {
      ringing.push(resolve);
    });
  const fromWorker = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/rung') {
      const waiting = ringing;
      ringing = [];
      for (const resolve of waiting) resolve();
    }
    if (pathname === '/effect') effects += 1;
    if (pathname !== '/deliver') return new Response();
    const message = (await request.json()) as QueueMessage;
    // An object of an earlier test may deliver its message again. After a crash, workerd has
    // forgotten the name of an object whose alarm rings.
    const object = searchParams.get('object') ?? '';
    const isForeign = object !== '' && !object.startsWith(current?.prefix ?? '');
    const receive = isForeign ? undefined : current?.objects.receive;
    const isAccepted = await (receive ?? refuse)(message).then(
      () => true,
      () => false,
    );
    return new Response(null, { status: isAccepted ? 200 : 503 });
  };
  let log = '';
  const script = await bundleForWorkerd(fileURLToPath(new URL(entry, import.meta.url)));
  const worker = await startMiniflare(script, {
    durableObjects: { SAGAS: { className: 'Sagas', useSQLite: true } },
    serviceBindings: { NODE: fromWorker },
    bindings,
    handleRuntimeStdio: (...streams: readonly Readable[]) => {
      for (const stream of streams) stream.on('data', (data) => void (log += String(data)));
    },
  });
  const address = await worker.ready;
  const post = async (
    path: string,
    query: object,
    body = '{}',
    signal?: AbortSignal,
  ): Promise<Response> => {
    const url = new URL(path, address);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const headers = { connection: 'close' };
    const response = await fetch(url, { method: 'POST', body, headers, ...(signal && { signal }) });
    if (response.ok) return response;
    throw new Error(((await response.json()) as { readonly message: string }).message);
  };

  function make(prefix = `${(made += 1)} `): FreshObjects {
    const objectNames = async (): Promise<readonly string[]> =>
      ((await (await post('/names', {})).json()) as string[]).filter((name) =>
        name.startsWith(prefix),
      );
    const askState = async (object: string): Promise<ObjectState> =>
      (await (await post('/state', { object })).json()) as ObjectState;
    // An object that ends during the request is asked once more: the request starts it again.
    const stateOf = (object: string): Promise<ObjectState> =>
      askState(object).catch(() => askState(object));
    let shifted: Promise<unknown> = Promise.resolve();
    const shift = async (ms: number): Promise<void> => {
      await post('/pass', { ms });
      const body = JSON.stringify({ ms });
      await Promise.all((await objectNames()).map((object) => post('/shift', { object }, body)));
    };
    const busy = async (): Promise<readonly string[]> => {
      const names = await objectNames();
      const states = await Promise.all(names.map(stateOf));
      return names.filter((_, index) => states[index]?.isBusy);
    };
    const abort = async (object: string): Promise<void> => {
      await post('/abort', { object }).catch(() => undefined);
    };
    const settle = async (stop: Promise<void> = new Promise(() => undefined)): Promise<void> => {
      const stopped = stop.then(() => true);
      for (;;) {
        const ring = nextRing().then(() => false);
        if ((await busy()).length === 0 || (await Promise.race([ring, stopped]))) return;
      }
    };
    const objects: FreshObjects = {
      namespace: {
        // A URL has a limit.
        idFromName: (name) =>
          prefix + (name.length > 500 ? createHash('sha256').update(name).digest('hex') : name),
        get: (object: string) => ({
          fetch: (_url, { body, signal }) => post('/', { object }, body, signal),
        }),
      },
      now: () => Date.now() + passed,
      pass: async (ms, stop) => {
        passed += ms;
        shifted = shift(ms);
        await shifted;
        await settle(stop);
      },
      receive: undefined,
      abort: (object) => abort(prefix + object),
      ring: async (object) => {
        const ring = nextRing();
        await post('/ring', { object: prefix + object });
        await ring;
      },
      stateOf: (object) => stateOf(prefix + object),
      abortBusy: async () => {
        // An alarm may ring before its object has replied to `/shift`.
        await shifted;
        await Promise.all((await busy()).map(abort));
      },
    };
    current = { prefix, objects };
    return objects;
  }

  return { address, effects: () => effects, log: () => log, make, close: () => worker.dispose() };
}

const refuse: QueueConsumer['deliver'] = () => Promise.reject(new Error('The host is down.'));
