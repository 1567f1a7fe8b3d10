/** Answer of a user to a form. */
export type FormAnswer =
  | { readonly action: 'accept'; readonly content: { readonly [field: string]: string | boolean } }
  | { readonly action: 'decline' };

/** Answers of a client of the matrix. */
export interface Answers {
  readonly form: FormAnswer;
  /** Text from the client's model. */
  readonly text: string;
}

/** Sampling result of a client's model. */
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
