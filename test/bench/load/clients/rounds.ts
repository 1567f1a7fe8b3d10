import { info } from '../tool.ts';
import { answers, call, textIn, type ToolResult } from './call.ts';
import type { Board, Flight, Progress } from './flight.ts';
import { post, resultOf } from './post.ts';
import { Stopwatch } from './stopwatch.ts';

const key = 'io.modelcontextprotocol/';
const version = '2026-07-28';
const headers = {
  'mcp-protocol-version': version,
  'mcp-method': 'tools/call',
  'mcp-name': call.name,
};
const envelope = {
  [`${key}protocolVersion`]: version,
  [`${key}clientInfo`]: info,
  [`${key}clientCapabilities`]: { elicitation: { form: {} } },
};

interface RoundResult extends ToolResult {
  readonly inputRequests?: { readonly [id: string]: object };
  readonly requestState?: string;
}

/**
 * Calls the tool by MCP 2026-07-28, and returns the result.
 *
 * @param more - members of the parameters, beside the call itself
 * @param meta - members of `_meta`, beside those that each request has
 */
export async function postCall<R>(url: string, more: object = {}, meta: object = {}): Promise<R> {
  const params = { ...call, ...more, _meta: { ...envelope, ...meta } };
  return await resultOf<R>(await post(url, { id: 1, method: 'tools/call', params }, { headers }));
}

/**
 * A user whose client speaks MCP 2026-07-28. Between two requests, this object holds the entire
 * state of the call.
 */
export const inRounds: Board = async (url) => await roundsAt(url);

/** The same user, whose client sends a progress token with each request. */
export const inRoundsWithProgress: Board = async (url) => await roundsAt(url, { progressToken: 1 });

async function roundsAt(url: string, meta?: object): Promise<Flight> {
  const send = (more: object): Promise<RoundResult> => postCall<RoundResult>(url, more, meta);
  let open = await send({});
  return {
    next: async (): Promise<Progress> => {
      const asked = Object.keys(open.inputRequests ?? {}) as readonly (keyof typeof answers)[];
      const inputResponses = Object.fromEntries(asked.map((id) => [id, answers[id]]));
      const { requestState } = open;
      const watch = new Stopwatch();
      open = await watch.time(() => send({ inputResponses, requestState }));
      if (open.inputRequests !== undefined) return { latencies: watch.latencies };
      const told = textIn(open);
      open = await watch.time(() => send({}));
      return { latencies: watch.latencies, told };
    },
  };
}
