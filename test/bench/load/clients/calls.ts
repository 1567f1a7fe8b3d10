import { textIn, type ToolResult } from './call.ts';
import type { Board, Progress } from './flight.ts';
import { postCall } from './rounds.ts';

/** A user of a tool without questions: each answer is a new call. */
export const inCalls: Board = async (url) => ({
  next: async (): Promise<Progress> => {
    const told = textIn(await postCall<ToolResult>(url));
    return { requests: 1, told };
  },
});
