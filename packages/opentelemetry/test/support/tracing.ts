import { context, type Attributes, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** A real provider that stores its exported spans. */
export interface Tracing {
  readonly provider: TracerProvider;
  /** All spans that have ended, in that order. */
  spans(): readonly ReadableSpan[];
  /** The names of spans, as a tree: each under its parent, in the order they began. */
  tree(): string;
  /** The span of a name; the nth of them, from 0. */
  span(name: string, nth?: number): ReadableSpan;
}

export function tracing(): Tracing {
  const exporter = new InMemorySpanExporter();
  // Not by their times, which may be the same.
  const order: string[] = [];
  const inOrder: SpanProcessor = {
    onStart: (span) => void order.push(span.spanContext().spanId),
    onEnd: () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new BasicTracerProvider({
    spanProcessors: [inOrder, new SimpleSpanProcessor(exporter)],
  });
  const began = (): readonly ReadableSpan[] =>
    exporter
      .getFinishedSpans()
      .toSorted((one, other) => order.indexOf(idOf(one)) - order.indexOf(idOf(other)));
  const under = (parent: string | undefined, depth: number): string[] =>
    began()
      .filter((span) => parentOf(span, began()) === parent)
      .flatMap((span) => ['  '.repeat(depth) + span.name, ...under(idOf(span), depth + 1)]);
  return {
    provider,
    spans: () => exporter.getFinishedSpans(),
    tree: () => under(undefined, 0).join('\n'),
    span: (name, nth = 0) => {
      const found = began().filter((span) => span.name === name)[nth];
      if (found === undefined)
        throw new Error(
          `There is no span '${name}' (${nth}). There are:\n${under(undefined, 0).join('\n')}`,
        );
      return found;
    },
  };
}

export const idOf = (span: ReadableSpan): string => span.spanContext().spanId;
export const traceOf = (span: ReadableSpan): string => span.spanContext().traceId;

/** The parent of a span, where it is one of these. */
function parentOf(span: ReadableSpan, spans: readonly ReadableSpan[]): string | undefined {
  const id = span.parentSpanContext?.spanId;
  return spans.some((other) => idOf(other) === id) ? id : undefined;
}

/** The names and attributes of a span's events. */
export function eventsOf(span: ReadableSpan): [string, Attributes][] {
  return span.events.map(({ name, attributes = {} }) => [name, attributes]);
}

/** The ids of the spans that a span links to. */
export function linksOf(span: ReadableSpan): string[] {
  return span.links.map((link) => link.context.spanId);
}

/** Has what runs asynchronously know its span, as a Node SDK sets it up. Returns what undoes it. */
export function manageContext(): () => void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return () => context.disable();
}
