import type { CompletedStep, ElicitationParams, FormField, SagaStep } from '@mcp-saga/client';
import { isRecord } from '@mcp-saga/core/program';
import type { CommandIo } from '../model/command.ts';
import { fitted, toValue } from '../input/assignments.ts';
import { CliError } from '../model/errors.ts';
import { choicesOf } from '../terminal/field-choices.ts';
import type { FormContent } from '../terminal/form.ts';
import { askPerson, notSampled, sampled, type Answering } from '../terminal/person.ts';
import { forReading } from './for-reading.ts';

/** Answers of the command line. */
export interface GivenAnswers {
  /** By ID of the step, or by name of a field. */
  readonly answers: ReadonlyMap<string, string>;
  /** IDs of declined questions. */
  readonly declined: ReadonlySet<string>;
  /** Text of the model. */
  readonly model: string | undefined;
  /** `true`: each question is accepted, with the default of each field. */
  readonly yes: boolean;
}

type Value = FormContent[string];

/**
 * Without a terminal, `answer` throws `question_unanswered` or `answer_refused`. `unused` is a
 * sentence about unused options.
 */
type AnsweringByOptions = Readonly<{ answer: Answering; unused: () => string | undefined }>;

/** Answers the steps of a saga: from the options, otherwise by a person. */
export function answering(given: GivenAnswers, io: CommandIo): AnsweringByOptions {
  const person = io.isInteractive ? askPerson(io) : undefined;
  const asked = new Map<string, readonly string[]>();
  const answer: Answering = async (step) => {
    const { stepId, reason } = step;
    // Options answer a question once: a refused option would be refused forever.
    const isRefused = reason !== undefined && asked.has(stepId);
    asked.set(stepId, [...new Set([...(asked.get(stepId) ?? []), ...fieldsOf(step)])]);
    const found = isRefused ? undefined : fromOptions(step, given);
    if (found !== undefined) {
      io.note(`${stepId}: ${given.declined.has(stepId) ? 'declined' : 'answered'} by the options`);
      return found;
    }
    if (person !== undefined) {
      const safe = shown(step, given);
      io.note(questionOf(safe));
      return await person(safe);
    }
    if (!isRefused) throw unanswered(step, given);
    throw new CliError('answer_refused', `The server refuses the answer to '${stepId}': ${reason}`);
  };
  return { answer, unused: () => unusedOf(given, asked) };
}

function unusedOf(
  given: GivenAnswers,
  asked: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const { answers, declined } = given;
  const names = [...asked.keys(), ...[...asked.values()].flat()];
  const unused = [
    ...[...answers.keys()]
      .filter((name) => !names.includes(name))
      .map((name) => `--answer ${name}`),
    ...[...declined].filter((id) => !asked.has(id)).map((id) => `--decline ${id}`),
  ];
  if (unused.length === 0) return undefined;
  const questions = [...asked].map(([id, fields]) =>
    fields.length === 0 ? id : `${id} (${fields.join(', ')})`,
  );
  return `No question for ${unused.join(', ')}. Asked: ${questions.join(', ') || 'nothing'}.`;
}

/** Returns a step for a person, in which the given answers are the defaults of the fields. */
function shown(step: SagaStep, { answers }: GivenAnswers): SagaStep {
  const safe = forReading(step);
  if (safe.type === 'elicitation' && safe.params.mode !== 'url')
    for (const [name, field] of Object.entries(safe.params.requestedSchema.properties))
      if (answers.has(name))
        Object.assign(field, { default: fitted(field, answers.get(name) ?? '') });
  return safe;
}

function fromOptions(step: SagaStep, given: GivenAnswers): CompletedStep | undefined {
  const { stepId } = step;
  if (step.type === 'roots') return { stepId, result: { roots: [] } };
  if (step.type === 'sampling') {
    const answer = given.answers.get(stepId);
    const text = answer === undefined ? given.model : String(fitted({ type: 'string' }, answer));
    if (given.declined.has(stepId)) return notSampled(stepId);
    return text === undefined ? text : sampled(stepId, text, 'mcp-saga');
  }
  if (given.declined.has(stepId) || isNo(step.params, given.answers.get(stepId)))
    return { stepId, result: { action: 'decline' } };
  const content = contentOf(stepId, step.params, given);
  return content && { stepId, result: { action: 'accept', content } };
}

/** `true` for a no to a question that has no field, or that opens a page. */
function isNo(params: ElicitationParams, answer: string | undefined): boolean {
  return answer !== undefined && isWithoutFields(params) && /^(?:false|no|n)$/i.test(answer.trim());
}

/** `true` for a question whose only answer is a yes. */
function isWithoutFields(params: ElicitationParams): boolean {
  return params.mode === 'url' || Object.keys(params.requestedSchema.properties).length === 0;
}

/** `true` for a yes to such a question, also as the content of an empty form. */
function isYes(answer: string | undefined): boolean {
  return answer !== undefined && /^(?:true|yes|y|\{\s*\})$/i.test(answer.trim());
}

function contentOf(
  stepId: string,
  params: ElicitationParams,
  given: GivenAnswers,
): FormContent | undefined {
  const { answers, yes } = given;
  const whole = answers.get(stepId);
  if (isWithoutFields(params) || params.mode === 'url') return yes || isYes(whole) ? {} : undefined;
  const { properties, required = [] } = params.requestedSchema;
  const names = Object.keys(properties);
  const form = toValue(whole ?? '');
  if (isRecord(form)) return form as FormContent;
  const [only = ''] = names;
  if (whole !== undefined && names.length === 1)
    return { [only]: fitted(properties[only], whole) as Value };
  const content: Record<string, Value> = {};
  for (const [name, field] of Object.entries(properties)) {
    const isRequired = required.includes(name);
    const own = yes ? (isRequired ? defaultOf(field) : field.default) : undefined;
    const text = answers.get(name);
    const value = text === undefined ? own : (fitted(field, text) as Value);
    if (value !== undefined) content[name] = value;
    else if (isRequired) return undefined;
  }
  return yes || names.some((name) => answers.has(name)) ? content : undefined;
}

function defaultOf(field: FormField): Value | undefined {
  if (field.default !== undefined) return field.default;
  if (field.type === 'boolean') return true;
  const [first] = choicesOf(field) ?? [];
  if (first !== undefined) return field.type === 'array' ? [first.value] : first.value;
  return field.type === 'number' || field.type === 'integer' ? field.minimum : undefined;
}

/** Names of the fields of a form; none for another question. */
function fieldsOf({ type, params }: SagaStep): readonly string[] {
  if (type !== 'elicitation' || params.mode === 'url') return [];
  return Object.keys(params.requestedSchema.properties);
}

/** Sentence with the question of a step, for the user or the model. */
function questionOf({ type, stepId, params }: SagaStep): string {
  if (type === 'elicitation') return `'${stepId}' asks: ${params.message}`;
  const { messages = [] } = Object(params) as {
    readonly messages?: readonly { readonly content: object }[];
  };
  const parts = messages.flatMap(
    ({ content }) => [content].flat() as readonly { readonly text?: string }[],
  );
  return `'${stepId}' asks the model: ${parts.map(({ text = '(no text)' }) => text).join('\n')}`;
}

function unanswered(step: SagaStep, given: GivenAnswers): CliError {
  const { stepId, type } = step;
  const open = fieldsOf(step).filter((name) => !given.answers.has(name));
  const byField = open.map((name) => `--answer ${name}=…`).join(' ');
  const ways = [
    type === 'sampling' ? '--model-answer TEXT' : byField || `--answer ${stepId}=true`,
    `--decline ${stepId}`,
    // Not every field has a default.
    ...(type !== 'sampling' && isAnsweredByDefaults(step, given) ? ['--yes'] : []),
  ];
  return new CliError(
    'question_unanswered',
    `${questionOf(step)} Answer with ${ways.join(' or ')}.`,
  );
}

/** `true` if `--yes` would answer a question. */
function isAnsweredByDefaults(step: SagaStep, given: GivenAnswers): boolean {
  return fromOptions(step, { ...given, yes: true }) !== undefined;
}
