import type { Draw } from '../seeded.ts';
import type { User } from '../user.ts';

/** The tools that are called. */
export type Tool = 'buy' | 'trip' | 'errand' | 'dash' | 'tour';

/** One call of a tool by somebody. */
export interface Calling {
  /** Where the proxy is. */
  readonly proxy: URL;
  readonly tool: Tool;
  readonly arguments: { readonly call: string };
  readonly user: User;
  readonly draw: Draw;
}

/** What a client reads in the end. */
export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
}

/** A client in one of the ways a saga is served, which sees one call through or throws. */
export interface Way {
  readonly dialect: string;
  readonly client: string;
  /** @throws Gone when its user has; RefusedCall; anything else that went wrong, after which it may be called again */
  see(calling: Calling): Promise<ToolText>;
}

/** The server will not go on with a call, and says why. */
export class RefusedCall extends Error {}

/** Arguments of a tool. */
export type Arguments = Readonly<Record<string, string>>;

/**
 * Calls a tool to its end. A call may end before its saga does, with a token to call again with.
 *
 * @param call - calls the tool once
 */
export async function calledToTheEnd(
  args: Arguments,
  call: (args: Arguments) => Promise<unknown>,
): Promise<ToolText> {
  let result = await call(args);
  for (;;) {
    const { nextResumeToken: resumeToken } = result as { readonly nextResumeToken?: string };
    if (resumeToken === undefined) return textOf(result);
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    result = await call({ ...args, resumeToken });
  }
}

/** The text of a tool's result. */
export function textOf(result: unknown): ToolText {
  const { content, isError = false } = result as {
    readonly content: readonly { readonly text?: string }[];
    readonly isError?: boolean;
  };
  return { text: content.map(({ text = '' }) => text).join('\n'), isError };
}

/**
 * What an error of a client means: thrown on, where it may be tried again; a `RefusedCall`, where the server has
 * said no. Network errors have no code of JSON-RPC; "send it again later" is -32603.
 */
export function judged(error: unknown): Error {
  const { code, message, data } = Object(error) as {
    readonly code?: unknown;
    readonly message?: string;
    readonly data?: { readonly reason?: unknown };
  };
  const reason = data?.reason;
  if (code === -32_602)
    return new RefusedCall(`${message?.replace(/^MCP error -?\d+: /, '')} (${String(reason)})`, {
      cause: error,
    });
  return error instanceof Error ? error : new Error(String(error));
}
