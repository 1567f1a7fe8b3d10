import { Agent, type IncomingMessage } from 'node:http';
import { info } from '../tool.ts';
import { answers, call, textIn, type ToolResult } from './call.ts';
import type { Board, Progress } from './flight.ts';
import { post, textOf } from './post.ts';

const version = '2025-11-25';

interface Message {
  readonly id: number;
  readonly method?: string;
  readonly params?: { readonly requestedSchema?: { readonly properties?: object } };
  readonly result?: ToolResult;
}

/**
 * A user whose client has a session. Its call stays open on a socket of its own, which also carries
 * the questions.
 */
export const inSession: Board = async (url) => {
  const initialize = {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: { elicitation: {} }, clientInfo: info },
  };
  const initialized = await post(url, initialize, { headers: {} });
  await textOf(initialized);
  const headers = {
    'mcp-protocol-version': version,
    'mcp-session-id': String(initialized.headers['mcp-session-id']),
  };
  const send = async (message: object): Promise<void> =>
    void (await textOf(await post(url, message, { headers })));
  await send({ method: 'notifications/initialized' });

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const begin = async (): Promise<() => Promise<Message>> =>
    messagesOf(await post(url, { id: 1, method: 'tools/call', params: call }, { headers, agent }));
  let next = await begin();
  let open = await next();
  return {
    next: async (): Promise<Progress> => {
      const answer =
        'target' in (open.params?.requestedSchema?.properties ?? {}) ? 'target' : 'window';
      const coming = next();
      await send({ id: open.id, result: answers[answer] });
      open = await coming;
      if (open.method !== undefined) return { requests: 1 };
      const told = textIn(open.result);
      next = await begin();
      open = await next();
      return { requests: 2, told };
    },
  };
};

/** Returns a function that reads the next message of an event stream. */
function messagesOf(response: IncomingMessage): () => Promise<Message> {
  const come: Message[] = [];
  let rest = '';
  let tell: ((message: Message) => void) | undefined;
  let fail: ((error: unknown) => void) | undefined;
  response.setEncoding('utf8');
  response.on('data', (part: string) => {
    const events = (rest + part).split(/\r?\n\r?\n/);
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: ?(.+)$/m.exec(event)?.[1];
      if (data === undefined) continue;
      const message = JSON.parse(data) as Message;
      if (tell === undefined) come.push(message);
      else tell(message);
      tell = undefined;
    }
  });
  response.once('error', (error) => fail?.(error));
  response.once('end', () => fail?.(new Error('The server has ended a call without a result')));
  return async () =>
    new Promise((resolve, reject) => {
      const first = come.shift();
      if (first === undefined) [tell, fail] = [resolve, reject];
      else resolve(first);
    });
}
