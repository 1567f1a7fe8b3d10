import { present } from '@mcp-saga/core/program';
import { memoryQueue, type SagaInspection } from '@mcp-saga/server';
import { hostCheck } from '@mcp-saga/server/internal';
import type { QueueMessage, SagaQueue } from '@mcp-saga/server/stores';
import {
  answerStudio,
  isOfOtherPage,
  pageFile,
  refusal,
  secured,
} from '../studio/answer-studio.ts';
import type { SeenClient } from '../studio/seen-turns.ts';
import type { Supervisor } from '../model/supervisor.ts';
import { TurnFeed, type KeptSaga } from '../studio/turn-feed.ts';
import { whyNotOpened } from '../input/inspecting-host.ts';
import { DevPlayground, type PlayedModule } from './dev-playground.ts';

const path = '/studio';
/** Header with the ID that the page gave to a request. */
const requestHeader = 'x-studio-request';

const whyForeignHost = hostCheck(['localhost', '127.0.0.1', '[::1]']);

/** What the studio shows of a module. */
export interface ShownModule extends PlayedModule {
  /** Name of the server, for the configuration of clients. */
  readonly name: string;
  /** `true` if the server has a queue of its own. */
  readonly hasOwnQueue: boolean;
  /** Path of the MCP endpoint. */
  readonly path: string;
  /** Opens a token with the keys of the server. Throws TokenRefused. */
  readonly inspect: (token: string) => Promise<SagaInspection>;
}

/** Studio of `mcp-saga dev`: the turns of all clients, and a page that is a client itself. */
export class DevStudio {
  /** Clients that have sent requests. */
  readonly clients: Map<string, SeenClient> = new Map();
  #reloads = 0;
  #problem: string | undefined;
  readonly playground: DevPlayground = new DevPlayground();
  /** Versions of another process have other numbers. */
  readonly #start = Date.now();
  /** Turns of served code. */
  readonly feed: TurnFeed;
  /** Time of the message that waits in the queue, by the ID of the saga. */
  readonly #messages = new Map<string, number>();
  /** Queue in memory, whose turns have `queue` in the place of a client. */
  readonly queue: SagaQueue;
  readonly #supervisor: Supervisor | undefined;

  /** @param supervisor - keeps what the studio has seen, and the messages of the queue */
  constructor(supervisor?: Supervisor) {
    this.#supervisor = supervisor;
    this.feed = new TurnFeed(
      200,
      supervisor && ((sagaId, saga) => void supervisor.keep(`saga ${sagaId}`, saga)),
    );
    this.feed.restore(keptBy(supervisor, 'saga ') as readonly KeptSaga[]);
    this.queue = observedQueue(this.feed, this.#messages, supervisor);
  }

  /** Shows changed code, or why the code is not served. */
  changed(problem?: string): void {
    if (problem === undefined) this.#reloads += 1;
    // The page repeats it in a URL.
    this.#problem = problem?.slice(0, 1_000);
    this.feed.touch();
  }

  /** Serves a request of MCP. Its turns carry the client, and the ID of the request. */
  observe<T>(request: Request, client: string | undefined, serve: () => T): T {
    const id = request.headers.get(requestHeader)?.slice(0, 64);
    return this.feed.observe(present({ client, request: id }), serve);
  }

  /**
   * Answers a request for the pages; undefined for other paths. Refuses other pages, also after DNS
   * rebinding.
   */
  answer(request: Request, module: ShownModule): Promise<Response> | undefined {
    const { pathname } = new URL(request.url);
    // Whoever opens the bare address looks for a page. An MCP endpoint may have that path, too.
    const isFront = pathname === '/' && request.method === 'GET' && module.path !== '/';
    if (!isFront && pathname !== path && !pathname.startsWith(`${path}/`)) return undefined;
    return this.#answer(request, module).then(secured);
  }

  /** Each response gets the headers of the studio: sources are as private as turns. */
  async #answer(request: Request, module: ShownModule): Promise<Response> {
    const { pathname, origin, searchParams } = new URL(request.url);
    const why = whyForeignHost(request, undefined);
    if (why !== undefined) return refusal(403, why);
    if (![origin, null].includes(request.headers.get('origin')) || isOfOtherPage(request))
      return refusal(403, 'Invalid Origin');
    if (pathname === '/') return refusal(307, 'See the studio.', { location: `${path}/` });
    const version = this.#start + this.#reloads;
    switch (pathname.slice(path.length + 1)) {
      case 'playground':
        return await pageFile('playground.html');
      case 'sources':
        return searchParams.get('after') === `${version} ${this.#problem}`
          ? new Response(null, { status: 204 })
          : await this.playground.sources(module, version, this.#problem);
      case 'engine':
        return request.method === 'POST'
          ? await this.playground.ask(request, module, version)
          : refusal(405, 'Send a request to the engine with POST.', { allow: 'POST' });
      case 'inspect':
        return request.method === 'POST'
          ? await inspected(request, module)
          : refusal(405, 'Send the token with POST.', { allow: 'POST' });
      case 'kill':
        if (request.method !== 'POST')
          return refusal(405, 'Kill the process with POST.', { allow: 'POST' });
        if (this.#supervisor === undefined)
          return refusal(409, 'Nobody would start this process again.');
        this.#supervisor.kill();
        // A killed process answers nothing.
        return await new Promise(() => undefined);
    }
    return await answerStudio(request, (sagaId) => ({
      ...this.feed.state(sagaId),
      mcp: module.path,
      name: module.name,
      hasOwnQueue: module.hasOwnQueue,
      ...(this.#supervisor && {
        process: { id: process.pid, ...present({ replaced: this.#supervisor.replaced }) },
      }),
      ...present({ continuesAt: this.#messages.get(sagaId ?? '') }),
      reloads: this.#reloads,
      problem: this.#problem,
      clients: [...this.clients.values()],
    }));
  }
}

/**
 * Opens the token in the body of a request. A token in a URL would reach histories and logs. The
 * response has no key, and no values but the receipts of decisions.
 */
async function inspected(request: Request, { inspect }: ShownModule): Promise<Response> {
  const token = (await request.text()).trim();
  try {
    return Response.json(await inspect(token));
  } catch (error) {
    const { name, reason = '' } = Object(error) as { name?: string; reason?: string };
    // Any other error belongs in the log.
    if (name !== 'TokenRefused') throw error;
    return refusal(422, whyNotOpened(reason));
  }
}

/**
 * Creates a queue whose deliveries belong to no request. Its timers start within a request, so
 * their turns would otherwise count as turns of that client. Notes the times of its messages, which
 * a supervisor keeps.
 */
function observedQueue(
  feed: TurnFeed,
  messages: Map<string, number>,
  supervisor: Supervisor | undefined,
): SagaQueue {
  const queue = memoryQueue();
  const kept = keptBy(supervisor, 'message ') as KeptMessage[];
  const send = (message: QueueMessage, at: number): void => {
    messages.set(message.sagaId, at);
    feed.touch();
    void queue.send(message, at);
  };
  return {
    ...queue,
    send: async (message, at) => {
      await supervisor?.keep(`message ${message.sagaId}`, { message, at } satisfies KeptMessage);
      send(message, at);
    },
    remove: async (sagaId) => {
      messages.delete(sagaId);
      feed.touch();
      await queue.remove?.(sagaId);
      await supervisor?.keep(`message ${sagaId}`, undefined);
    },
    start: ({ deliver, ...consumer }) => {
      queue.start?.({
        ...consumer,
        deliver: (message) => feed.observe({ client: 'queue' }, () => deliver(message)),
      });
      // Messages of the killed process. A queue may deliver twice.
      for (const { message, at } of kept.splice(0)) send(message, at);
    },
  };
}

type KeptMessage = { readonly message: QueueMessage; readonly at: number };

/** Returns the values that an earlier process kept below a prefix, oldest first. */
function keptBy(supervisor: Supervisor | undefined, prefix: string): unknown[] {
  const all = [...(supervisor?.kept ?? [])];
  return all.filter(([name]) => name.startsWith(prefix)).map(([, value]) => value);
}
