import { tool } from '../tool.ts';

/** The parameters of the call. */
export const call = { name: tool.name, arguments: { service: 'web', replicas: 2 } };

/** Answers of the user, by message of the question. */
export const answers = {
  target: { action: 'accept', content: { target: 'production' } },
  window: { action: 'accept', content: { from: '22:00', hours: 2 } },
} as const;

/** Result of a call: only the fields that the bench reads. */
export interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}

/**
 * Returns the text of a result.
 *
 * @throws Error for any other result: a refusal must not count as a fast response
 */
export function textIn(result: ToolResult | undefined): string {
  const text = result?.content?.[0]?.text;
  if (text === undefined || result?.isError === true)
    throw new Error('A call did not come to its end');
  return text;
}
