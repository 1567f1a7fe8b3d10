import { Agent, type IncomingMessage } from 'node:http';
import { answers, call, textIn, type ToolResult } from './call.ts';
import type { Board, Progress } from './flight.ts';
import { initialize } from './initialize.ts';
import { dataOf, post, textOf } from './post.ts';
import { Stopwatch } from './stopwatch.ts';

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
  const headers = await initialize(url);
  const send = async (message: object): Promise<void> =>
    void (await textOf(await post(url, message, { headers })));

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
      const watch = new Stopwatch();
      open = await watch.time(async () => {
        await send({ id: open.id, result: answers[answer] });
        return await coming;
      });
      if (open.method !== undefined) return { latencies: watch.latencies };
      const told = textIn(open.result);
      open = await watch.time(async () => {
        next = await begin();
        return await next();
      });
      return { latencies: watch.latencies, told };
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
      const data = dataOf(event);
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
