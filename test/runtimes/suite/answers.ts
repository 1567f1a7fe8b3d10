/** A form that was filled in. */
export type Accepted = {
  readonly action: 'accept';
  readonly content: Record<string, string | boolean>;
};

/** An accepted form, as clients answer it. */
export function accepted(content: Accepted['content']): Accepted {
  return { action: 'accept', content };
}

/** What a model says, as clients answer it. */
export const sampled = {
  role: 'assistant',
  model: 'test',
  content: { type: 'text', text: 'Yes.' },
} as const;

/** The results of steps, as the saga methods take them. */
export function completed(stepId: string, result: object): readonly object[] {
  return [{ stepId, result }];
}
