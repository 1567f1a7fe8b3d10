import { tool } from '../tool.ts';

/** The parameters of the call. */
export const call = { name: tool.name, arguments: { service: 'web', replicas: 2 } };

/** What the user answers, by the message of the question. */
export const answers = {
  target: { action: 'accept', content: { target: 'production' } },
  window: { action: 'accept', content: { from: '22:00', hours: 2 } },
} as const;

/** The result of a call, as far as it is read. */
export interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}

/**
 * What the tool said.
 *
 * @throws Error for anything else: a server that refuses is not one that serves fast
 */
export function textIn(result: ToolResult | undefined): string {
  const text = result?.content?.[0]?.text;
  if (text === undefined || result?.isError === true) throw new Error('A call did not come to its end');
  return text;
}
