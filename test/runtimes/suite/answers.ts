/** An accepted form. */
export type Accepted = {
  readonly action: 'accept';
  readonly content: Record<string, string | boolean>;
};

/** Creates a client's answer that accepts a form. */
export function accepted(content: Accepted['content']): Accepted {
  return { action: 'accept', content };
}

/** Sampling result of a client. */
export const sampled = {
  role: 'assistant',
  model: 'test',
  content: { type: 'text', text: 'Yes.' },
} as const;

/** Creates the results of steps in the format of the saga methods. */
export function completed(stepId: string, result: object): readonly object[] {
  return [{ stepId, result }];
}
