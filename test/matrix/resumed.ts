import type { Answers } from './answers.ts';

/**
 * Calls a tool as a model does whose client can ask nobody: again and again with the resume token, and with the answers
 * it was asked for.
 */
export async function resumed(
  ask: (args: object) => Promise<unknown>,
  args: object,
  answers: Answers,
): Promise<unknown> {
  let result = (await ask(args)) as Result;
  for (let round = 0; result.nextResumeToken !== undefined; round += 1) {
    if (round === 10) throw new Error('It never ends.');
    const text = result.content.map((block) => block.text).join('');
    const stepId = /"(keep|step-[\w-]+)"/.exec(text)?.[1] ?? '';
    const answer = stepId === 'step-sampling-B' ? answers.text : answers.form;
    // oxlint-disable-next-line no-await-in-loop -- each call follows from the one before
    result = (await ask({
      ...args,
      resumeToken: result.nextResumeToken,
      answers: { [stepId]: answer },
    })) as Result;
  }
  return result;
}

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly nextResumeToken?: string;
}
