import type { Answers } from './answers.ts';

/**
 * Repeats a tool call with the resume token and the requested answers, like the model of a client
 * that cannot ask its user.
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
