import { info } from '../tool.ts';
import { answers, call, textIn, type ToolResult } from './call.ts';
import type { Board, Progress } from './flight.ts';
import { post, textOf } from './post.ts';

const key = 'io.modelcontextprotocol/';
const version = '2026-07-28';
const headers = {
  'mcp-protocol-version': version,
  'mcp-method': 'tools/call',
  'mcp-name': call.name,
};
const meta = {
  [`${key}protocolVersion`]: version,
  [`${key}clientInfo`]: info,
  [`${key}clientCapabilities`]: { elicitation: { form: {} } },
};

interface RoundResult extends ToolResult {
  readonly inputRequests?: { readonly [id: string]: object };
  readonly requestState?: string;
}

/** Calls the tool by MCP 2026-07-28, and returns the result. */
export async function postCall<R>(url: string, more: object = {}): Promise<R> {
  const params = { ...call, ...more, _meta: meta };
  const response = await post(url, { id: 1, method: 'tools/call', params }, { headers });
  const text = await textOf(response);
  if (response.statusCode !== 200)
    throw new Error(`The server answered ${response.statusCode}: ${text}`);
  const { result } = JSON.parse(text) as { readonly result?: R };
  if (result === undefined) throw new Error('The server refused a request');
  return result;
}

/**
 * A user whose client speaks MCP 2026-07-28. Between two requests, this object holds the entire
 * state of the call.
 */
export const inRounds: Board = async (url) => {
  const send = (more: object): Promise<RoundResult> => postCall<RoundResult>(url, more);
  let open = await send({});
  return {
    next: async (): Promise<Progress> => {
      const asked = Object.keys(open.inputRequests ?? {}) as readonly (keyof typeof answers)[];
      const inputResponses = Object.fromEntries(asked.map((id) => [id, answers[id]]));
      open = await send({ inputResponses, requestState: open.requestState });
      if (open.inputRequests !== undefined) return { requests: 1 };
      const told = textIn(open);
      open = await send({});
      return { requests: 2, told };
    },
  };
};
