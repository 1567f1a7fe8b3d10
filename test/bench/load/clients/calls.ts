import { call, textIn, type ToolResult } from './call.ts';
import type { Board, Progress } from './flight.ts';
import { initialize } from './initialize.ts';
import { post, resultOf } from './post.ts';
import { postCall } from './rounds.ts';
import { Stopwatch } from './stopwatch.ts';

/** A user of a tool without questions: each answer is a new call. */
export const inCalls: Board = async (url) => calling(() => postCall<ToolResult>(url));

/** The same user, whose client sends a progress token with each call. */
export const inCallsWithProgress: Board = async (url) =>
  calling(() => postCall<ToolResult>(url, {}, { progressToken: 1 }));

/**
 * A user whose client speaks MCP 2025-11-25, and has no session. The server cannot ask it anything,
 * so each answer is a new call.
 */
export const inCallsOf2025: Board = async (url) => {
  const headers = await initialize(url);
  const message = { id: 1, method: 'tools/call', params: call };
  return calling(async () => await resultOf<ToolResult>(await post(url, message, { headers })));
};

function calling(send: () => Promise<ToolResult>): { next: () => Promise<Progress> } {
  return {
    next: async () => {
      const watch = new Stopwatch();
      const told = textIn(await watch.time(send));
      return { latencies: watch.latencies, told };
    },
  };
}
