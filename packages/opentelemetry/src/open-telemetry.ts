import { optionError } from '@mcp-saga/core/shared';
import {
  context,
  isSpanContextValid,
  metrics,
  trace,
  type Context,
  type Link,
  type SpanContext,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { SagaTelemetry } from '@mcp-saga/server';
import type { TracedTurn, TurnSpan } from '@mcp-saga/server/internal';
import { refusal, turnAttributes, turnName } from './attributes.ts';
import { spanOfTurn } from './turn-span.ts';
import { fromParent, fromTraceContext, toParent } from './trace-parent.ts';

const scopeName = '@mcp-saga/opentelemetry';

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Provider of the tracer. @default the global provider, at the time of each span */
  readonly tracerProvider?: TracerProvider;
  /**
   * Use of the trace context that clients send in `_meta` (`traceparent`, `tracestate`):
   *
   * - `link`: the turn links to the client's span. The server keeps its own trace and sampling.
   * - `parent`: a saga that starts without an active span joins the client's trace and sampling
   *   decision. Use for trusted clients only: other clients could force sampling, or write into a
   *   known trace.
   * - `ignore`: no use.
   * @default 'link'
   */
  readonly clientContext?: 'link' | 'parent' | 'ignore';
}

/**
 * Traces sagas with OpenTelemetry. Each turn and each attempt of a step is a span. With a
 * registered context manager, spans of calls in a step are children of the step. The first turn is
 * a child of the active span, and the parent of all later turns, by way of the token. Each turn
 * links to the active span of the request.
 * @throws TypeError if `clientContext` is invalid
 * @example
 * ```ts
 * // For `createSagaHost` or `serveSagas`.
 * const telemetry = openTelemetry({ clientContext: 'parent' });
 * export const options = { telemetry };
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): SagaTelemetry {
  const { tracerProvider, clientContext = 'link' } = options;
  if (!['link', 'parent', 'ignore'].includes(clientContext)) {
    throw optionError("clientContext must be 'link', 'parent', or 'ignore'.");
  }
  const tracer = (tracerProvider ?? trace).getTracer(scopeName);
  return {
    turn: (turn) => beginTurn(tracer, clientContext, turn),
    refused: ({ reason, suppressed }) => {
      const { name, attributes, status } = refusal(reason, suppressed);
      tracer.startSpan(name, { attributes }).setStatus(status).end();
    },
    servedBySdk: (reason) => {
      // Made anew, which is cheap: a provider may be registered at any time.
      const counter = metrics.getMeter(scopeName).createCounter('saga.requests.by_sdk', {
        description:
          'Requests over HTTP that needed a server of the MCP SDK, which takes more time',
      });
      counter.add(1, { reason });
    },
  };
}

function beginTurn(
  tracer: Tracer,
  clientContext: NonNullable<OpenTelemetryOptions['clientContext']>,
  turn: TracedTurn,
): TurnSpan {
  const active = context.active();
  const here = validSpan(trace.getSpanContext(active));
  const client =
    turn.client === undefined || clientContext === 'ignore'
      ? undefined
      : fromTraceContext(turn.client);
  const carried = turn.parent === undefined ? undefined : fromParent(turn.parent);
  // If the HTTP headers were traced, the active span is already part of the client's trace.
  const fromElsewhere = client?.traceId === here?.traceId ? undefined : client;
  const parent = carried ?? here ?? (clientContext === 'parent' ? client : undefined);
  const span = tracer.startSpan(
    turnName(turn),
    { attributes: turnAttributes(turn), links: linksTo([here, fromElsewhere], parent) },
    parent === undefined || parent === here ? active : trace.setSpanContext(active, parent),
  );
  const within: Context = trace.setSpan(active, span);
  return spanOfTurn(
    tracer,
    span,
    within,
    carried === undefined ? toParent(span.spanContext()) : turn.parent,
  );
}

/** Returns a link to each span except the parent, without duplicates. */
function linksTo(
  spans: readonly (SpanContext | undefined)[],
  parent: SpanContext | undefined,
): Link[] {
  const linked = new Map<string, Link>();
  for (const span of spans) {
    if (span !== undefined && span.spanId !== parent?.spanId)
      linked.set(span.spanId, { context: span });
  }
  return [...linked.values()];
}

function validSpan(span: SpanContext | undefined): SpanContext | undefined {
  return span !== undefined && isSpanContextValid(span) ? span : undefined;
}
