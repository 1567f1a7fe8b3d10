import { textForPeople } from '@mcp-saga/core/shared';
import { confirm, log, select, text } from '@clack/prompts';
import type {
  CompletedStep,
  ElicitationParams,
  ElicitationResult,
  FormElicitation,
  SagaStep,
} from '@mcp-saga/client';
import { CliError } from '../model/errors.ts';
import { askForm, showForm } from './form.ts';
import { prompt, type Terminal, withLastKey } from './prompter.ts';

/** Answers one question of a saga. */
export type Answering = (step: SagaStep) => Promise<CompletedStep>;

/**
 * Asks the person at a terminal every question of a saga, including the questions for the model.
 * Enter fills a field, but never decides: the person types `y` to send what the terminal shows.
 * @param suggestion - initial text for the answer of the model
 * @throws RunLeft on Ctrl-C
 * @example
 * ```ts
 * const answer = askPerson({ input: process.stdin, output: process.stdout });
 * const { result } = await answer({ type: 'roots', stepId: 'folders' });
 * console.log(result);
 * ```
 */
export function askPerson(terminal: Terminal, suggestion: string = ''): Answering {
  let isExplained = false;
  return async (step) => {
    const { type, stepId } = step;
    if (!isExplained)
      log.info('Enter: answer. Esc: leave the question. Ctrl-C: stop.', {
        output: terminal.output,
      });
    isExplained = true;
    if (step.reason !== undefined)
      log.warn(`Asked again: ${step.reason}`, { output: terminal.output });
    switch (type) {
      case 'elicitation':
        return { stepId, result: await askElicitation(step.params, terminal) };
      case 'sampling':
        return await askForModel(stepId, terminal, suggestion);
      case 'roots':
        return { stepId, error: { code: -32601, message: 'A terminal has no roots' } };
    }
  };
}

type Action = ElicitationResult['action'];
type Chosen = Action | undefined;
type Choice = { readonly value: Action | 'again'; readonly label: string; readonly hint?: string };

const refusals: readonly Choice[] = [
  { value: 'decline', label: 'Decline', hint: 'the server receives a no' },
  { value: 'cancel', label: 'Dismiss', hint: 'the server receives no decision' },
];
const modelRefusal = "the server receives an error instead of the model's answer";

async function askElicitation(
  params: ElicitationParams,
  terminal: Terminal,
): Promise<ElicitationResult> {
  if (params.mode === 'url') return { action: await askToOpen(params.url, terminal) };
  const { requestedSchema } = params;
  for (const filled = {}; ;) {
    const { answer: content, lastKey } = await withLastKey(terminal, () =>
      unlessLeft(askForm(requestedSchema, terminal, filled)),
    );
    if (content !== undefined && isDecided(requestedSchema, lastKey))
      return { action: 'accept', content };
    const action = await (content === undefined
      ? askToLeave('Answer after all', refusals, terminal)
      : askToSend(showForm(requestedSchema, content), terminal));
    if (action !== undefined) return action === 'accept' ? { action, content } : { action };
  }
}

/**
 * `true` if a key named the only value of a form, which is yes or no. Enter takes the value that
 * was shown, so that two keys too many could approve a payment.
 */
function isDecided(
  { properties }: FormElicitation['requestedSchema'],
  lastKey: string | undefined,
): boolean {
  const fields = Object.values(properties);
  const isYesOrNo = fields.length === 1 && fields[0]?.type === 'boolean';
  return isYesOrNo && (lastKey === 'y' || lastKey === 'n');
}

/** Shows a filled form for review; undefined returns to the form. */
async function askToSend(form: string, terminal: Terminal): Promise<Chosen> {
  log.message(form, { output: terminal.output });
  if ((await agrees('Send this?', terminal)) === true) return 'accept';
  return await askToLeave('Change it', refusals, terminal);
}

/**
 * Offers the refusals of a question whose answer is not sent; undefined returns to the question,
 * which is what Enter does.
 */
async function askToLeave(
  label: string,
  offered: readonly Choice[],
  terminal: Terminal,
): Promise<Chosen> {
  return await choose('No answer?', [{ value: 'again', label }, ...offered], terminal);
}

async function askToOpen(url: string, terminal: Terminal): Promise<Action> {
  for (;;) {
    if ((await agrees(`Will you open ${textForPeople(url)}?`, terminal)) === true) return 'accept';
    const action = await askToLeave('Answer after all', refusals, terminal);
    if (action !== undefined) return action;
  }
}

/** Asks for a yes, which is not what Enter answers; undefined for Esc. */
async function agrees(message: string, terminal: Terminal): Promise<boolean | undefined> {
  const shown = { message, initialValue: false, active: 'Yes (y)', inactive: 'Not yet (n)' };
  return await unlessLeft(prompt(terminal, (common) => confirm({ ...common, ...shown })));
}

/** Returns a choice; undefined for Esc, and to ask again. */
async function choose(
  message: string,
  choices: readonly Choice[],
  terminal: Terminal,
): Promise<Chosen> {
  const shown = { message, options: [...choices] };
  const chosen = await unlessLeft(prompt(terminal, (common) => select({ ...common, ...shown })));
  return chosen === 'again' ? undefined : chosen;
}

async function askForModel(
  stepId: string,
  terminal: Terminal,
  suggestion: string,
): Promise<CompletedStep> {
  const shown = {
    message: "You play the client's model",
    initialValue: suggestion,
    // Enter without a text would answer for the model that there is nothing to say.
    validate: (answer: string | undefined) => (answer ? undefined : 'Needed'),
  };
  for (;;) {
    const answer = await unlessLeft(prompt(terminal, (common) => text({ ...common, ...shown })));
    if (answer !== undefined) return sampled(stepId, answer, 'a-person');
    const refusal: Choice = { value: 'decline', label: 'Decline', hint: modelRefusal };
    if ((await askToLeave('Answer after all', [refusal], terminal)) !== undefined)
      return notSampled(stepId);
  }
}

/**
 * Error instead of an answer of the model, with the code of MCP for a user who rejects sampling.
 */
export function notSampled(stepId: string): CompletedStep {
  return { stepId, error: { code: -1, message: 'User rejected sampling request' } };
}

/** Answer of a model to a step. */
export function sampled(stepId: string, answer: string, model: string): CompletedStep {
  const content = { type: 'text', text: answer } as const;
  return { stepId, result: { role: 'assistant', content, model, stopReason: 'endTurn' } };
}

/** Returns the answer, or undefined if the person left the question with Esc. */
async function unlessLeft<T>(asked: Promise<T>): Promise<T | undefined> {
  return await asked.catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'question_left') return undefined;
    throw error;
  });
}
