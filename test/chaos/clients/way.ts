import type { Draw } from '../seeded.ts';
import type { User } from '../user.ts';

/** Called tools. */
export type Tool = 'buy' | 'trip' | 'errand' | 'dash' | 'gift' | 'parcel' | 'tour';

/** One call of a tool by a user. */
export interface Calling {
  /** URL of the proxy. */
  readonly proxy: URL;
  readonly tool: Tool;
  readonly arguments: { readonly call: string };
  /** Names the call, so that its repetition acts once. Undefined: each try begins a saga. */
  readonly key: string | undefined;
  readonly user: User;
  readonly draw: Draw;
}

/** Text of a tool result. */
export interface ToolText {
  readonly text: string;
  readonly isError: boolean;
}

/** A client that uses one dialect. It completes a call or throws. */
export interface Way {
  readonly dialect: string;
  readonly client: string;
  /**
   * @throws Gone if the user has disconnected; RefusedCall if the server rejects the call; any
   * other error may be retried
   */
  see(calling: Calling): Promise<ToolText>;
}

/** Chance that a client asks again without answers while its user reads the question. */
export const pollChance = 0.3;

/** The server rejects a call, with a reason. */
export class RefusedCall extends Error {}

/** Arguments of a tool. */
export type Arguments = Readonly<Record<string, string>>;

/**
 * Calls a tool until its saga ends. A call may end before its saga, with a token for the next call.
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
    result = await call({ ...args, resumeToken });
  }
}

/** Reads the text of a tool result. */
export function textOf(result: unknown): ToolText {
  const { content, isError = false } = result as {
    readonly content: readonly { readonly text?: string }[];
    readonly isError?: boolean;
  };
  return { text: content.map(({ text = '' }) => text).join('\n'), isError };
}

/**
 * Converts a client error: a `RefusedCall` if the server rejected the call, otherwise a retryable
 * error. Network errors have no JSON-RPC code, and a retryable server error has -32603.
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
