import { AuthoringError } from './errors.ts';
import { toForm, type FormSchema } from './form.ts';
import type { Schema } from './standard-schema.ts';

/**
 * The form of a question. Made once for each schema.
 *
 * @throws AuthoringError naming the question, and the path of what a form cannot express
 */
export function formOf(id: string, schema: Schema): FormSchema {
  try {
    return toForm(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'its schema cannot be read';
    throw new AuthoringError(`elicit('${id}'): ${problem}`, { cause: error });
  }
}
