import { confirm, log, multiselect, select, text } from '@clack/prompts';
import type { FormField, NumberField, TextField } from '@mcp-saga/client';
import { type Choice, choicesOf } from './field-choices.ts';
import { numberProblem, textProblem } from './field-problem.ts';
import { prompt, type Terminal } from './prompter.ts';

/** Value of a form field. */
export type FieldValue = string | number | boolean | readonly string[];

/** Options of a field's prompt. */
export interface FieldOptions {
  readonly required: boolean;
  /** Initial value. */
  readonly initial: FieldValue | undefined;
}

type Labelled = FormField & { readonly title: string };

/**
 * Asks for a field with the prompt of its type, until the value is valid.
 * @returns undefined if an optional field got no value
 * @throws QuestionLeft, RunLeft
 */
export async function askField(
  field: Labelled,
  options: FieldOptions,
  terminal: Terminal,
): Promise<FieldValue | undefined> {
  const message = messageOf(field, options);
  const choices = choicesOf(field);
  if (field.type === 'array') return await askSeveral(message, choices ?? [], field, options, terminal);
  if (choices !== undefined) return await askOne(message, choices, options, terminal);
  if (field.type === 'boolean') return await askBoolean(message, options, terminal);
  const typed = await askTyped(message, field, options, terminal);
  if (typed === '') return undefined;
  return field.type === 'string' ? typed : Number(typed);
}

async function askTyped(
  message: string,
  field: NumberField | TextField,
  { required, initial }: FieldOptions,
  terminal: Terminal,
): Promise<string> {
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

async function askBoolean(
  message: string,
  options: FieldOptions,
  terminal: Terminal,
): Promise<boolean | undefined> {
  const { required, initial } = options;
  if (required) {
    return await prompt(terminal, (common) =>
      confirm({ ...common, message, initialValue: initial === true }),
    );
  }
  const choices = [
    { value: 'yes', label: 'Yes' },
    { value: 'no', label: 'No' },
  ];
  const chosen = initial === undefined ? undefined : initial === true ? 'yes' : 'no';
  const answer = await askOne(message, choices, { required, initial: chosen }, terminal);
  return answer === undefined ? undefined : answer === 'yes';
}

async function askOne(
  message: string,
  choices: readonly Choice[],
  { required, initial }: FieldOptions,
  terminal: Terminal,
): Promise<string | undefined> {
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
  message: string,
  choices: readonly Choice[],
  { minItems = 0, maxItems = choices.length }: { readonly minItems?: number; readonly maxItems?: number },
  { required, initial }: FieldOptions,
  terminal: Terminal,
): Promise<readonly string[] | undefined> {
  const least = required ? minItems : 0;
  let initialValues = Array.isArray(initial) ? initial.map(String) : [];
  for (;;) {
    const chosen = await prompt(terminal, (common) =>
      multiselect({
        ...common,
        message,
        options: choices.map(({ value, label }) => ({ value, label })),
        initialValues,
        required: least > 0,
      }),
    );
    if (chosen.length === 0 && !required) return undefined;
    if (chosen.length >= minItems && chosen.length <= maxItems) return chosen;
    log.warn(`Choose ${range(minItems, maxItems)}, not ${chosen.length}`, { output: terminal.output });
    initialValues = chosen;
  }
}

function range(least: number, most: number): string {
  if (least === most) return String(least);
  return least === 0 ? `at most ${most}` : `${least} to ${most}`;
}

function messageOf({ title, description }: Labelled, { required }: FieldOptions): string {
  const first = required ? title : `${title} (optional)`;
  return description === undefined ? first : `${first}: ${description}`;
}
