import type { ClientAnswer } from '../model/client-step.ts';
import type { JournalledSpec } from '../model/command.ts';
import { isLargerThan, isSameJson, type Json } from '../values/json.ts';
import type { ProgramLimits } from '../model/runtime.ts';
import { decode, encode } from '../values/codec.ts';
import { agreementDigest } from '../values/fingerprint.ts';
import type { EntryType } from '../journal/entry-types.ts';
import type { NewEntry } from '../journal/journal.ts';
import { validate } from '../values/standard-schema.ts';

/** An accepted answer as a journal entry, with the value for the body; or why it was not accepted. */
export type Acceptance =
  | { readonly entry: Omit<NewEntry, 'path' | 'fingerprint'>; readonly value: unknown }
  | { readonly reason: string };

type Fields = { readonly [key: string]: Json };

const isRecord = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
  spec: JournalledSpec,
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
export async function checkedAnswer(spec: JournalledSpec, answer: ClientAnswer): Promise<Acceptance> {
  const given = { provenance: answer.provenance, agreement: agreementOf(answer) };
  if ('error' in answer) {
    const { code, message, data } = answer.error;
    const error = {
      name: 'ClientError',
      message,
      code,
      ...(data === undefined ? {} : { data }),
    };
    return accepted('clientError', error, given);
  }
  const { result } = answer;
  if (!isRecord(result)) return { reason: 'result: expected an object' };
  switch (spec.kind) {
    case 'elicit':
    case 'elicitUrl':
      return acceptElicitation(spec, result, given);
    case 'sample':
      return acceptSample(result, given);
    case 'roots':
      return acceptRoots(result, given);
    case 'checkpoint':
    case 'step':
    case 'call':
    case 'now':
    case 'random':
    case 'uuid':
    case 'info':
    case 'sleep':
    case 'poll':
    case 'stepKey':
      return { reason: 'nothing was asked' };
  }
}

type Given = NonNullable<NewEntry['answer']>;

function accepted(type: EntryType, value: unknown, answer: Given): Acceptance {
  const text = encode(value);
  // What the body gets went through the codec, as it does on every replay.
  return { entry: { type, text, answer }, value: decode(text) };
}

async function acceptElicitation(
  spec: Extract<JournalledSpec, { kind: 'elicit' | 'elicitUrl' }>,
  result: Fields,
  answer: Given,
): Promise<Acceptance> {
  const { action, content } = result;
  if (action === 'decline') return { entry: { type: 'declined', answer }, value: undefined };
  if (action === 'cancel') return { entry: { type: 'dismissed', answer }, value: undefined };
  if (action !== 'accept') return { reason: "action: expected 'accept', 'decline' or 'cancel'" };
  if (spec.kind === 'elicitUrl') return { entry: { type: 'agreed', answer }, value: undefined };
  if (!isRecord(content)) return { reason: 'content: expected an object' };
  const parsed = await validate(spec.schema, content);
  if (!parsed.ok) return { reason: parsed.issues };
  // A value that a schema made of the answer may hold what the client does not know: it is not compressed (T10).
  return accepted(isSameJson(parsed.value, content) ? 'accepted' : 'parsed', parsed.value, answer);
}

function acceptSample(result: Fields, answer: Given): Acceptance {
  const { role, content, model } = result;
  if (role !== 'assistant' && role !== 'user') return { reason: "role: expected 'assistant' or 'user'" };
  if (typeof model !== 'string') return { reason: 'model: expected a string' };
  if (!isRecord(content)) return { reason: 'content: expected an object' };
  const { type } = content;
  if (type === 'text' && typeof content['text'] !== 'string')
    return { reason: 'content.text: expected a string' };
  if ((type === 'image' || type === 'audio') && typeof content['data'] !== 'string') {
    return { reason: 'content.data: expected a string' };
  }
  if (type !== 'text' && type !== 'image' && type !== 'audio') {
    return { reason: "content.type: expected 'text', 'image' or 'audio'" };
  }
  return accepted('sampled', result, answer);
}

function acceptRoots(result: Fields, answer: Given): Acceptance {
  const { roots } = result;
  if (!Array.isArray(roots)) return { reason: 'roots: expected an array' };
  const bad = roots.findIndex((root) => !isRecord(root) || typeof root['uri'] !== 'string');
  return bad === -1 ? accepted('listed', roots, answer) : { reason: `roots[${bad}].uri: expected a string` };
}
