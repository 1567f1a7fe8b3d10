import type { StepAnswer } from './wire.ts';

/**
 * A copy of an answer as the wire will have it: what is kept is what is sent, and nothing can change it in between.
 *
 * @throws TypeError when JSON cannot hold it
 */
export function toStepAnswer(answer: StepAnswer): StepAnswer {
  const copy: StepAnswer = JSON.parse(JSON.stringify(answer));
  return copy;
}
