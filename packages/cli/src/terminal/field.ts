import { confirm, log, multiselect, select, text } from '@clack/prompts';
import type { FormField, NumberField, TextField } from '@mcp-saga/client';
import { type Choice, choicesOf } from './field-choices.ts';
import { numberProblem, textProblem } from './field-problem.ts';
import { prompt, type Terminal } from './prompter.ts';

/** Value of a form field. */
export type FieldValue = string | number | boolean | readonly string[];

/** How a field is asked for. */
export interface FieldOptions {
  readonly terminal: Terminal;
  readonly required: boolean;
  /** Initial value. */
  readonly initial: FieldValue | undefined;
}

type Labelled = FormField & { readonly title: string };
type Asked = FieldOptions & { readonly message: string };

/**
 * Asks for a field until the value is valid; undefined for an optional field without a value.
 * Throws `question_left`, or RunLeft.
 */
export async function askField(
  field: Labelled,
  options: FieldOptions,
): Promise<FieldValue | undefined> {
  const { title, description } = field;
  const label = options.required ? title : `${title} (optional)`;
  const asked = {
    ...options,
    message: description === undefined ? label : `${label}: ${description}`,
  };
  const choices = choicesOf(field);
  if (field.type === 'array') return await askSeveral(asked, choices ?? [], field);
  if (choices !== undefined) return await askOne(asked, choices);
  if (field.type === 'boolean') return await askBoolean(asked);
  const typed = await askTyped(asked, field);
  if (typed === '') return undefined;
  return field.type === 'string' ? typed : Number(typed);
}

async function askTyped(asked: Asked, field: NumberField | TextField): Promise<string> {
  const { terminal, message, required, initial } = asked;
  const problem = (typed: string): string | undefined => {
    if (typed === '') return required ? 'Needed' : undefined;
    return field.type === 'string' ? textProblem(typed, field) : numberProblem(typed, field);
  };
  const typed = await prompt(terminal, (common) =>
    text({
      ...common,
      message,
      ...(initial === undefined ? {} : { initialValue: String(initial) }),
      validate: (value) => problem((value ?? '').trim()),
    }),
  );
  return (typed ?? '').trim();
}

async function askBoolean(asked: Asked): Promise<boolean | undefined> {
  const { terminal, message, required, initial } = asked;
  const shown = { message, initialValue: initial === true };
  if (required) return await prompt(terminal, (common) => confirm({ ...common, ...shown }));
  const choices = [true, false].map((value) => ({
    value: String(value),
    label: value ? 'Yes' : 'No',
  }));
  const answer = await askOne({ ...asked, initial: String(initial) }, choices);
  return answer === undefined ? undefined : answer === 'true';
}

async function askOne(asked: Asked, choices: readonly Choice[]): Promise<string | undefined> {
  const { terminal, message, required, initial } = asked;
  // The index, because the value of a choice may be any text, also an empty one.
  const options = choices.map(({ label }, value) => ({ value, label }));
  const initialValue = choices.findIndex(({ value }) => value === initial);
  const chosen = await prompt(terminal, (common) =>
    select({
      ...common,
      message,
      options: required ? options : [...options, { value: -1, label: 'No answer' }],
      // An optional field without a default begins without an answer.
      initialValue: required && initialValue === -1 ? 0 : initialValue,
    }),
  );
  return choices[chosen]?.value;
}

async function askSeveral(
  { terminal, message, required, initial }: Asked,
  choices: readonly Choice[],
  {
    minItems = 0,
    maxItems = choices.length,
  }: { readonly minItems?: number; readonly maxItems?: number },
): Promise<readonly string[] | undefined> {
  const options = [...choices];
  const given = Array.isArray(initial) ? initial.map(String) : [];
  let initialValues = given.filter((each) => choices.some(({ value }) => value === each));
  for (;;) {
    const shown = { message, options, initialValues, required: required && minItems > 0 };
    const chosen = await prompt(terminal, (common) => multiselect({ ...common, ...shown }));
    if (chosen.length === 0 && !required) return undefined;
    if (chosen.length >= minItems && chosen.length <= maxItems) return chosen;
    log.warn(`Choose ${range(minItems, maxItems)}, not ${chosen.length}`, {
      output: terminal.output,
    });
    initialValues = chosen;
  }
}

function range(least: number, most: number): string {
  if (least === most) return String(least);
  return least === 0 ? `at most ${most}` : `${least} to ${most}`;
}
