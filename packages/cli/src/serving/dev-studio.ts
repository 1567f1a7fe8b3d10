import { present } from '@mcp-saga/core/program';
import type { HostHooks, Program, SagaTelemetry } from '@mcp-saga/server';
import { hostCheck } from '@mcp-saga/server/internal';
import { answerStudio, refusal } from '../studio/answer-studio.ts';
import type { SeenClient } from '../studio/seen-turns.ts';
import { TurnFeed } from '../studio/turn-feed.ts';
import { messageOf } from './turn-log.ts';
import { withValues } from './with-values.ts';

const maxSagas = 200;
const path = '/studio';
/** Header with the ID that the page gave to a request. */
const requestHeader = 'x-studio-request';

const whyForeignHost = hostCheck(['localhost', '127.0.0.1', '[::1]']);

/** Studio of `mcp-saga dev`: the turns of all clients, and a page that is a client itself. */
export class DevStudio {
  /** Clients that have sent requests. */
  readonly clients: Map<string, SeenClient> = new Map();
  #reloads = 0;
  readonly #feed = new TurnFeed(maxSagas);

  /** Observes the turns of served code. */
  telemetry(inner: SagaTelemetry | undefined): SagaTelemetry {
    return this.#feed.telemetry(inner);
  }

  /** Wraps sagas to show their values. */
  withValues(sagas: readonly Program[]): readonly Program[] {
    return sagas.map((saga) => withValues(saga, this.#feed));
  }

  /** Adds a hook that keeps error messages, which are no part of telemetry. */
  withErrors(hooks: HostHooks): HostHooks {
    return {
      ...hooks,
      onTurn: (facts) => {
        const { error } = facts;
        const uncompensated = facts.uncompensated?.map(({ stepId }) => stepId) ?? [];
        if (error !== undefined) this.#feed.explain({ error: messageOf(error), uncompensated });
        hooks.onTurn?.(facts);
      },
    };
  }

  /** Shows changed code. */
  reload(): void {
    this.#reloads += 1;
    this.#feed.touch();
  }

  /** Serves a request of MCP. Its turns carry the client, and the ID of the request. */
  observe<T>(request: Request, client: string | undefined, serve: () => T): T {
    const id = request.headers.get(requestHeader)?.slice(0, 64);
    return this.#feed.observe(present({ client, request: id }), serve);
  }

  /**
   * Answers a request for the page; undefined for other paths. Refuses other pages, also after DNS rebinding.
   * @param mcp - path of the MCP endpoint
   */
  answer(request: Request, mcp: string): Promise<Response> | Response | undefined {
    const { pathname, origin } = new URL(request.url);
    if (pathname !== path && !pathname.startsWith(`${path}/`)) return undefined;
    const why = whyForeignHost(request, undefined);
    if (why !== undefined) return refusal(403, why);
    if (![origin, null].includes(request.headers.get('origin'))) return refusal(403, 'Invalid Origin');
    return answerStudio(request, (sagaId) => ({
      ...this.#feed.state(sagaId),
      mcp,
      reloads: this.#reloads,
      clients: [...this.clients.values()],
    }));
  }
}
