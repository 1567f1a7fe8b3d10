import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Draw } from '../seeded.ts';
import { drawFault, type Fault } from './faults.ts';
import {
  forward,
  ignore,
  isWithoutAnswers,
  passHalf,
  passOn,
  readRequest,
  type Forwarded,
  type ReadRequest,
} from './forward.ts';

/** Number of requests with each fault. */
export type ProxyFigures = Record<Fault['kind'] | 'requests' | 'polls' | 'no answer', number>;

/** Distributes requests over the server processes in turn, and injects faults. */
export class Proxy {
  readonly figures: ProxyFigures = {
    requests: 0,
    polls: 0,
    none: 0,
    'cut before': 0,
    'cut during': 0,
    'cut after': 0,
    delay: 0,
    reorder: 0,
    duplicate: 0,
    'duplicate late': 0,
    'copied poll': 0,
    'no answer': 0,
  };
  readonly #draw: Draw;
  readonly #servers = new Map<string, URL>();
  readonly #server: Server;
  readonly #later = new Set<ReturnType<typeof setTimeout>>();
  #isCalm = false;
  #turn = 0;

  private constructor(draw: Draw) {
    this.#draw = draw;
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
    this.#server.keepAliveTimeout = 500;
  }

  /** Listens on a free port of 127.0.0.1. */
  static async listen(draw: Draw): Promise<Proxy> {
    const proxy = new Proxy(draw);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  /** Sets the URL of a process, or removes the process if `url` is undefined. */
  route(name: string, url: URL | undefined): void {
    if (url === undefined) this.#servers.delete(name);
    else this.#servers.set(name, url);
  }

  /** Stops all faults. */
  calm(): void {
    this.#isCalm = true;
  }

  /** Waits until so many further requests have arrived, or the signal aborts. */
  async passes(count: number, until: AbortSignal): Promise<void> {
    const goal = this.figures.requests + count;
    while (this.figures.requests < goal && !until.aborted) await this.#wait(20);
  }

  async close(): Promise<void> {
    for (const timer of this.#later) clearTimeout(timer);
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    this.figures.requests += 1;
    const mine = request.headers['mcp-session-id'];
    const session = typeof mine === 'string' ? mine.split('.')[0] : undefined;
    const isOfSession = request.path.startsWith('/sessions');
    const isPoll = !isOfSession && isWithoutAnswers(request);
    if (isPoll) this.figures.polls += 1;
    const fault = this.#isCalm
      ? ({ kind: 'none' } as const)
      : drawFault(this.#draw, isOfSession, isPoll);
    this.figures[fault.kind] += 1;
    if (fault.kind === 'cut before') {
      outgoing.destroy();
      return;
    }
    if (fault.kind === 'delay') await this.#wait(fault.ms);
    if (fault.kind === 'reorder') await this.#passed(fault.past);
    const sent = this.#forward(request, session);
    if (sent === undefined) {
      // A session ends with its process: the client must start a new one.
      outgoing.writeHead(session === undefined ? 503 : 404).end();
      return;
    }
    let isLeft = false;
    outgoing.once('close', () => {
      if (!isLeft && !outgoing.writableEnded) sent.cut();
    });
    if (fault.kind === 'cut during') {
      isLeft = !fault.isHeard;
      await this.#wait(fault.ms);
      outgoing.destroy();
      if (isLeft) ignore(sent);
      return;
    }
    if (fault.kind === 'duplicate late' || fault.kind === 'copied poll')
      this.#after(fault.ms, () => this.#sendForNobody(request));
    const answers = [sent.response];
    if (fault.kind === 'duplicate') {
      const other = this.#forward(request, session);
      if (other !== undefined) answers.push(other.response);
    }
    await this.#answer(answers, outgoing, fault);
  }

  async #answer(
    answers: readonly Promise<IncomingMessage>[],
    outgoing: ServerResponse,
    fault: Fault,
  ): Promise<void> {
    let first: IncomingMessage;
    try {
      first = await Promise.any(answers);
    } catch {
      this.figures['no answer'] += 1;
      if (!outgoing.destroyed) outgoing.writeHead(502).end();
      return;
    }
    for (const answer of answers) {
      answer.then(
        (from) => (from === first ? undefined : from.on('error', () => undefined).resume()),
        () => undefined,
      );
    }
    if (fault.kind === 'cut after') passHalf(first, outgoing);
    else passOn(first, outgoing);
  }

  /**
   * Forwards to the process of the session, or to the next process. Undefined if no process serves.
   */
  #forward(request: ReadRequest, session: string | undefined): Forwarded | undefined {
    const urls = [...this.#servers.values()];
    this.#turn += 1;
    const url = session === undefined ? urls[this.#turn % urls.length] : this.#servers.get(session);
    return url === undefined ? undefined : forward(request, url);
  }

  #sendForNobody(request: ReadRequest): void {
    const sent = this.#forward(request, undefined);
    if (sent !== undefined) ignore(sent);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#after(ms, resolve));
  }

  /** Waits until the given number of later requests has arrived, or for a second. */
  async #passed(count: number): Promise<void> {
    const goal = this.figures.requests + count;
    for (let waited = 0; this.figures.requests < goal && waited < 1_000; waited += 20) {
      await this.#wait(20);
    }
  }

  #after(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#later.delete(timer);
      act();
    }, ms);
    this.#later.add(timer);
  }
}
