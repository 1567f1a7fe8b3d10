import {
  context,
  isSpanContextValid,
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

/** How sagas are traced. */
export interface OpenTelemetryOptions {
  /** Where spans go. Default: the provider that is registered globally, whenever it is. */
  readonly tracerProvider?: TracerProvider;
  /**
   * What becomes of the trace context that clients send in `_meta` (`traceparent`, `tracestate`):
   *
   * - `link` (default): the turn links to the client's span. The trace, and whether it is sampled, stay yours.
   * - `parent`: a saga that starts while no span is active joins the client's trace, and follows the client's decision on
   *   sampling. For clients that you trust: others can have you record everything, and write into a trace they know of.
   * - `ignore`: it is not looked at.
   */
  readonly clientContext?: 'link' | 'parent' | 'ignore';
}

/**
 * Shows sagas to OpenTelemetry: `createSagaHost({ …, telemetry: openTelemetry() })`, or `serveSagas`.
 *
 * A turn is a span, and so is each attempt of a step; what a step calls nests under it, where a context manager is
 * registered. The first turn is a child of the span that is active then, and the parent of all later turns: they find it
 * in the token. Each turn links to the span that is active in its own request.
 *
 * @throws TypeError for an option that is not there
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): SagaTelemetry {
  const { tracerProvider, clientContext = 'link' } = options;
  if (!['link', 'parent', 'ignore'].includes(clientContext)) {
    throw new TypeError("clientContext: expected 'link', 'parent' or 'ignore'.");
  }
  const tracer = (tracerProvider ?? trace).getTracer('@mcp-saga/opentelemetry');
  return {
    turn: (turn) => beginTurn(tracer, clientContext, turn),
    refused: ({ reason, suppressed }) => {
      const { name, attributes, status } = refusal(reason, suppressed);
      tracer.startSpan(name, { attributes }).setStatus(status).end();
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
    turn.client === undefined || clientContext === 'ignore' ? undefined : fromTraceContext(turn.client);
  const carried = turn.parent === undefined ? undefined : fromParent(turn.parent);
  // Where the request was traced by its own headers, the active span has the client's before it already.
  const fromElsewhere = client?.traceId === here?.traceId ? undefined : client;
  const parent = carried ?? here ?? (clientContext === 'parent' ? client : undefined);
  const span = tracer.startSpan(
    turnName(turn),
    { attributes: turnAttributes(turn), links: linksTo([here, fromElsewhere], parent) },
    parent === undefined || parent === here ? active : trace.setSpanContext(active, parent),
  );
  const within: Context = trace.setSpan(active, span);
  return spanOfTurn(tracer, span, within, carried === undefined ? toParent(span.spanContext()) : turn.parent);
}

/** Links to spans that are not the parent, each once. */
function linksTo(spans: readonly (SpanContext | undefined)[], parent: SpanContext | undefined): Link[] {
  const linked = new Map<string, Link>();
  for (const span of spans) {
    if (span !== undefined && span.spanId !== parent?.spanId) linked.set(span.spanId, { context: span });
  }
  return [...linked.values()];
}

function validSpan(span: SpanContext | undefined): SpanContext | undefined {
  return span !== undefined && isSpanContextValid(span) ? span : undefined;
}
