import { AuthoringError } from '../../values/errors.ts';
import { toForm, type FormSchema } from '../../values/form.ts';
import type { Schema } from '../../values/standard-schema.ts';

/**
 * Form of a question, made once per schema. `of`: function that takes the schema. Throws
 * AuthoringError with the question and the path of a bad field.
 */
export function formOf(id: string, schema: Schema, of: string = 'elicit'): FormSchema {
  try {
    return toForm(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'its schema cannot be read';
    throw new AuthoringError(`${of}('${id}'): ${problem}`, { anchor: 'forms', cause: error });
  }
}
