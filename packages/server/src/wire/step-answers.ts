/**
 * Forms on the wire that all dialects share: requests to the client, its answers, results of
 * tools, and errors. What a client sends is checked here by form and size only; steps check what
 * it means. An error reaches a client with its public text only.
 */
import { type Json, type Provenance, type IgnoredAnswer } from '@mcp-saga/core';
import {
  assertJson,
  InvalidJson,
  isClearlyLargerThan,
  isLargerThan,
  isRecord,
  type ClientAnswer,
} from '@mcp-saga/core/program';
import { maxAnswers, type ResolvedLimits } from '../model/host-limits.ts';
import { invalidField } from './errors.ts';

/** Answer to a client step: a `result` or an `error`. */
export type StepAnswer =
  | { readonly stepId: string; readonly result: Json }
  | {
      readonly stepId: string;
      readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
    };

/**
 * Checks answers by their form only; steps check results. An answer over the limit is not read: a
 * text over the limit replaces it, so that its step is asked again. Throws `invalid_params` with
 * the field `where`, never a value.
 */
export function toAnswers(
  sent: unknown,
  where: string,
  provenance: Provenance,
  { maxAnswerBytes }: Pick<ResolvedLimits, 'maxAnswerBytes'>,
): ReadonlyMap<string, ClientAnswer> {
  const answers = new Map<string, ClientAnswer>();
  if (sent === undefined) return answers;
  if (!Array.isArray(sent)) throw invalidField(`${where}: expected an array of step results`);
  if (sent.length > maxAnswers)
    throw invalidField(`${where}: more than ${maxAnswers} step results`);
  for (const [index, entry] of sent.entries()) {
    const at = `${where}[${index}]`;
    const { stepId, answer } = toAnswer(entry, at, provenance, maxAnswerBytes);
    if (answers.has(stepId))
      throw invalidField(`${at}.stepId: this step has a result already in the same request`);
    answers.set(stepId, answer);
  }
  return answers;
}

function toAnswer(
  entry: unknown,
  at: string,
  provenance: Provenance,
  maxAnswerBytes: number,
): { readonly stepId: string; readonly answer: ClientAnswer } {
  if (!isRecord(entry)) throw invalidField(`${at}: expected an object`);
  const { stepId, result, error } = entry;
  if (typeof stepId !== 'string') throw invalidField(`${at}.stepId: expected a string`);
  if ((result === undefined) === (error === undefined)) {
    throw invalidField(`${at}: expected either a result or an error`);
  }
  if (isClearlyLargerThan(maxAnswerBytes, result ?? error))
    return { stepId, answer: { result: 'x'.repeat(maxAnswerBytes + 1), provenance } };
  if (error === undefined)
    return { stepId, answer: { result: toJson(result, `${at}.result`), provenance } };
  const { code, message, data } = Object(error) as Record<string, unknown>;
  if (!Number.isSafeInteger(code)) throw invalidField(`${at}.error.code: expected a whole number`);
  if (typeof message !== 'string') throw invalidField(`${at}.error.message: expected a string`);
  toJson(message, `${at}.error.message`);
  return {
    stepId,
    answer: {
      error: {
        code: code as number,
        message,
        ...(data === undefined ? {} : { data: toJson(data, `${at}.error.data`) }),
      },
      provenance,
    },
  };
}

/**
 * Checks that a value from a client is plain JSON, without own `__proto__` keys. Throws
 * `invalid_params`.
 */
export function toJson(value: unknown, where: string): Json {
  try {
    assertJson(value, { where });
    return value;
  } catch (error) {
    if (error instanceof InvalidJson) throw invalidField(error.message);
    throw error;
  }
}

/** Checks that the params of a request are an object. Throws `invalid_params`. */
export function toFields(params: unknown): { readonly [key: string]: unknown } {
  if (!isRecord(params)) throw invalidField('expected an object');
  return params;
}

/**
 * Checks the arguments of a call; absent ones are empty. Measures them before it reads them. Throws
 * `invalid_params`.
 */
export function toArguments(
  sent: unknown,
  { maxTokenBytes }: Pick<ResolvedLimits, 'maxTokenBytes'>,
): Json {
  const tooLarge = `arguments: more than ${maxTokenBytes} bytes. Send references to large values.`;
  if (isClearlyLargerThan(maxTokenBytes, sent)) throw invalidField(tooLarge);
  const args = toJson(sent ?? {}, 'arguments');
  if (isLargerThan(maxTokenBytes, args)) throw invalidField(tooLarge);
  if (!isRecord(args)) throw invalidField('arguments: expected an object');
  return args;
}

/** Converts step IDs between a program and the wire. */
export interface StepIds {
  toWire(stepId: string): string;
  /**
   * Separates the answers to this generation from those to older generations, which no step waits
   * for.
   */
  fromWire(answers: ReadonlyMap<string, ClientAnswer>): {
    readonly inner: ReadonlyMap<string, ClientAnswer>;
    readonly older: readonly IgnoredAnswer[];
  };
}

/**
 * Converts step IDs of a generation. After the nth `continueAs`, IDs on the wire end in `@n`, to be
 * unique in a saga.
 */
export function stepIdsOf(generation: number): StepIds {
  if (generation === 0)
    return { toWire: (stepId) => stepId, fromWire: (inner) => ({ inner, older: [] }) };
  const suffix = `@${generation}`;
  return {
    toWire: (stepId) => stepId + suffix,
    fromWire: (answers) => {
      const inner = new Map<string, ClientAnswer>();
      const older: IgnoredAnswer[] = [];
      for (const [stepId, answer] of answers) {
        if (stepId.endsWith(suffix)) inner.set(stepId.slice(0, -suffix.length), answer);
        else older.push({ stepId, why: 'unknown' });
      }
      return { inner, older };
    },
  };
}
