import { log, select, text } from '@clack/prompts';
import type { ElicitationParams, ElicitationResult, FormElicitation, CompletedStep } from '@mcp-saga/client';
import { type Answering, notAnswered } from './answering.ts';
import { askForm, type FormContent, showForm } from './form.ts';
import { prompt, QuestionLeft, type Terminal } from './prompter.ts';

/** Puts what a saga asks to the person at a terminal, also what it asks the model. Throws RunLeft on Ctrl-C. */
export function askPerson(terminal: Terminal): Answering {
  let told = false;
  return async (step) => {
    const { type, stepId } = step;
    if (!told) log.info('Enter answers, Esc leaves a question, Ctrl-C stops.', { output: terminal.output });
    told = true;
    if (step.reason !== undefined) log.warn(`Asked again: ${step.reason}`, { output: terminal.output });
    switch (type) {
      case 'elicitation':
        return { stepId, result: await askElicitation(step.params, terminal) };
      case 'sampling':
        return await askForModel(stepId, terminal);
      case 'roots':
        return notAnswered(stepId);
    }
  };
}

type Action = ElicitationResult['action'];

const refusals = [
  { value: 'decline', label: 'Decline', hint: 'the server hears: no' },
  { value: 'cancel', label: 'Dismiss', hint: 'the server hears: not decided' },
] as const;

async function askElicitation(params: ElicitationParams, terminal: Terminal): Promise<ElicitationResult> {
  if (params.mode === 'url') return { action: await askToOpen(params.url, terminal) };
  const single = Object.keys(params.requestedSchema.properties).length === 1;
  for (let filled: FormContent = {}; ;) {
    const content = await unlessLeft(askForm(params.requestedSchema, terminal, filled));
    if (content !== undefined && single) return { action: 'accept', content };
    const action = await unlessLeft(askWhatToDo(params, content, terminal));
    if (action === 'accept') return { action, content };
    if (action === 'decline' || action === 'cancel') return { action };
    filled = content ?? filled;
  }
}

/** A filled form is reviewed before it is sent; one that was left is declined or taken up again. */
async function askWhatToDo(
  { requestedSchema }: FormElicitation,
  content: FormContent | undefined,
  terminal: Terminal,
): Promise<Action | 'again'> {
  if (content !== undefined) log.message(showForm(requestedSchema, content), { output: terminal.output });
  const options =
    content === undefined
      ? [{ value: 'again', label: 'Answer after all' } as const]
      : [{ value: 'accept', label: 'Send it' } as const, { value: 'again', label: 'Change it' } as const];
  return await prompt(terminal, (common) =>
    select<Action | 'again'>({
      ...common,
      message: content === undefined ? 'No answer?' : 'Send this?',
      options: [...options, ...refusals],
    }),
  );
}

async function askToOpen(url: string, terminal: Terminal): Promise<Action> {
  const opened = { value: 'accept', label: 'I will open it' } as const;
  const show = prompt(terminal, (common) =>
    select<Action>({ ...common, message: `Open ${url}`, options: [opened, ...refusals] }),
  );
  return (await unlessLeft(show)) ?? 'cancel';
}

async function askForModel(stepId: string, terminal: Terminal): Promise<CompletedStep> {
  const said = await unlessLeft(
    prompt(terminal, (common) =>
      text({
        ...common,
        message: "You play the client's model",
        initialValue: 'Yes, all systems are green.',
      }),
    ),
  );
  // The code that MCP has for a person who does not let the model answer.
  if (said === undefined) return { stepId, error: { code: -1, message: 'User rejected sampling request' } };
  return {
    stepId,
    result: {
      role: 'assistant',
      content: { type: 'text', text: said },
      model: 'a-person',
      stopReason: 'endTurn',
    },
  };
}

/** What was answered; undefined when the person left the question with Esc. */
async function unlessLeft<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof QuestionLeft) return undefined;
    throw error;
  }
}
