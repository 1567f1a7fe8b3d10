/** What a user says to a form. */
export type FormAnswer =
  | { readonly action: 'accept'; readonly content: { readonly [field: string]: string | boolean } }
  | { readonly action: 'decline' };

/** How a client of the matrix answers what it is asked. */
export interface Answers {
  readonly form: FormAnswer;
  /** What its model says. */
  readonly text: string;
}

/** What a model at a client answers. */
export function sampled(text: string): {
  readonly role: 'assistant';
  readonly content: { readonly type: 'text'; readonly text: string };
  readonly model: string;
} {
  return { role: 'assistant', content: { type: 'text', text }, model: 'matrix' };
}

/** A call of a tool. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: { readonly [name: string]: string };
}
