import { AuthoringError } from './errors.ts';
import { toForm, type FormSchema } from './form.ts';
import type { Schema } from './standard-schema.ts';

/** Returns the form of a question, made once a schema. Throws AuthoringError with the question and the path of a bad field. */
export function formOf(id: string, schema: Schema): FormSchema {
  try {
    return toForm(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'its schema cannot be read';
    throw new AuthoringError(`elicit('${id}'): ${problem}`, { cause: error });
  }
}
