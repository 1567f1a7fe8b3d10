import {
  resultOf,
  type Channel,
  type Fields,
  type Listener,
  type WireMessage,
} from '../../support/wire/channel.ts';
import { capabilitiesOf, type WireEra, type WireWay } from '../../support/wire/ways.ts';
import { RawClient } from '../../support/wire/wire-client.ts';

const prefix = 'io.modelcontextprotocol/';
const everything = capabilitiesOf({ dialect: 'multi round-trip', era: '2026-07-28' });

/** Client of a request, and a listener for messages before the response. */
export interface AskOptions extends Listener {
  /** Protocol version. Default: 2026-07-28. */
  readonly era?: WireEra;
  /** Capabilities of the client. Default: all that let a server ask. */
  readonly capabilities?: object;
}

/**
 * Posts one request without an SDK, and returns the raw response. A listener that throws cuts the
 * connection.
 */
export async function ask(
  url: URL,
  method: string,
  params: Fields,
  { era = '2026-07-28', capabilities = everything, onNotification }: AskOptions = {},
): Promise<WireMessage> {
  const isModern = era === '2026-07-28';
  const target = params['name'] ?? params['taskId'] ?? params['uri'];
  const meta = {
    ...(isModern ? { [`${prefix}protocolVersion`]: era } : {}),
    [`${prefix}clientCapabilities`]: capabilities,
  };
  const gone = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': era,
      ...(isModern ? { 'mcp-method': method } : {}),
      ...(isModern && typeof target === 'string' ? { 'mcp-name': target } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
    signal: gone.signal,
  });
  try {
    for await (const message of messagesIn(response)) {
      if (message.method === undefined) return message;
      onNotification?.(message.method, message.params ?? {});
    }
  } finally {
    gone.abort();
  }
  throw new Error(`No answer to '${method}', but HTTP ${response.status}`);
}

/** Reads the messages of a response as they arrive, from JSON or from an event stream. */
async function* messagesIn(response: Response): AsyncGenerator<WireMessage> {
  if (response.headers.get('content-type')?.includes('event-stream') !== true) {
    yield JSON.parse(await response.text()) as WireMessage;
    return;
  }
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length)) as WireMessage;
    }
  }
}

/** Answers of a client, by method of the question. */
export interface Answers {
  readonly [method: string]: Fields;
}

/**
 * Creates a raw client over HTTP.
 *
 * @param url - where its next request goes
 * @param cut - sees what comes, and may throw
 */
export function clientOf(
  url: () => URL,
  way: WireWay,
  answers: Answers,
  cut: NonNullable<Listener['onNotification']> = () => undefined,
): RawClient {
  const channel: Channel = {
    send: async (method, params, listener) => {
      const onNotification = (told: string, more: Fields): void => {
        listener?.onNotification?.(told, more);
        cut(told, more);
      };
      const options = { era: way.era, capabilities: capabilitiesOf(way), onNotification };
      return resultOf(await ask(url(), method, params, options));
    },
    close: () => Promise.resolve(),
  };
  return new RawClient(way, {
    channel,
    answerer: { answer: ({ method }) => Promise.resolve(answers[method] ?? {}) },
    // Waits for the polling interval that the server sets.
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}
