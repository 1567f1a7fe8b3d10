import { present } from '../values/present.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import { isJsonObject, isLargerThan, type Json } from '../values/json.ts';
import type { ProgramLimits } from '../model/runtime.ts';
import { agreementDigest } from '../values/fingerprint.ts';
import { effectOf, type EffectSpec } from './effect-of.ts';
import type { Acceptance } from './parts/effect.ts';
import { accepted } from './parts/entries.ts';

/** A digest by which a repeated answer is recognised as the one given before. */
export function agreementOf(answer: ClientAnswer): number {
  return 'error' in answer
    ? agreementDigest({ error: { ...answer.error } as Json })
    : agreementDigest({ result: answer.result });
}

/**
 * Checks what a client sent for a step. Everything it sends is unchecked until here; what is accepted was parsed by
 * the schema, once, and is never parsed again. (R2) Reasons name fields, never values.
 *
 * @param limits - no schema sees what is larger: some take a time that grows much faster than what they look at (T11)
 * @param onError - told what a schema throws
 */
export async function acceptAnswer(
  spec: EffectSpec,
  answer: ClientAnswer,
  { maxAnswerBytes = Number.POSITIVE_INFINITY }: Pick<ProgramLimits, 'maxAnswerBytes'>,
  onError: (error: unknown) => void,
): Promise<Acceptance> {
  if (isLargerThan(maxAnswerBytes, 'error' in answer ? answer.error : answer.result))
    return { reason: `it has more than ${maxAnswerBytes} bytes` };
  try {
    return await checkedAnswer(spec, answer);
  } catch (error) {
    // A schema that throws at an answer must not let a client fail the saga, and have it undone.
    onError(error);
    return { reason: 'this answer cannot be checked' };
  }
}

/**
 * Checks an answer that nobody outside chose.
 *
 * @throws what the schema throws
 */
export async function checkedAnswer(spec: EffectSpec, answer: ClientAnswer): Promise<Acceptance> {
  const given = { provenance: answer.provenance, agreement: agreementOf(answer) };
  if ('error' in answer) {
    const { code, message, data } = answer.error;
    const error = {
      name: 'ClientError',
      message,
      code,
      ...present({ data }),
    };
    return accepted('clientError', error, given);
  }
  const { result } = answer;
  if (!isJsonObject(result)) return { reason: 'result: expected an object' };
  return (await effectOf(spec).question?.accept(spec, result, given)) ?? { reason: 'nothing was asked' };
}
