import { Exchange } from './exchange.ts';

/** Events by name: a promise, and the function that resolves it. */
const events = new Map<string, { readonly happened: Promise<void>; readonly happen: () => void }>();

function eventOf(name: string): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  const event = events.get(name) ?? { happened, happen };
  events.set(name, event);
  return event;
}

/** Body with one part, and a second one after an event. */
function inParts(event: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(encoder.encode('one'));
      void eventOf(event).happened.then(() => {
        controller.enqueue(encoder.encode('two'));
        controller.close();
      });
    },
    cancel: () => eventOf(`canceled ${event}`).happen(),
  });
}

/** Test server for the bridge: echoes, streams, waits for an event, or triggers an event. */
globalThis.startExchange = () =>
  new Exchange(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const event = searchParams.get('event') ?? '';
    if (pathname === '/happen') eventOf(event).happen();
    if (pathname === '/parts') return new Response(inParts(event));
    if (pathname === '/wait') {
      request.signal.addEventListener('abort', () => eventOf(`aborted ${event}`).happen());
      eventOf(`waiting for ${event}`).happen();
      await eventOf(event).happened;
    }
    return new Response(request.method === 'POST' ? await request.arrayBuffer() : null, {
      status: 218,
      headers: { 'x-method': request.method, 'x-sent': request.headers.get('x-sent') ?? '' },
    });
  });
