import { type Json, type Provenance, type IgnoredAnswer } from '@mcp-saga/core';
import { assertJson, InvalidJson, type ClientAnswer } from '@mcp-saga/core/program';
import { SagaHostError } from './errors.ts';

/** An answer to a client step, as a client sends it: a `result` or an `error`. */
export type StepAnswer =
  | { readonly stepId: string; readonly result: Json }
  | {
      readonly stepId: string;
      readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
    };

/** Checks answers by their form only; steps check results. Throws `invalid_params` with the field `where`, never a value. */
export function toAnswers(
  sent: unknown,
  where: string,
  provenance: Provenance,
  maxAnswers: number,
): ReadonlyMap<string, ClientAnswer> {
  const answers = new Map<string, ClientAnswer>();
  if (sent === undefined) return answers;
  if (!Array.isArray(sent)) throw invalid(`${where}: expected an array of step results`);
  if (sent.length > maxAnswers) throw invalid(`${where}: more than ${maxAnswers} step results`);
  for (const [index, entry] of sent.entries()) {
    const at = `${where}[${index}]`;
    const { stepId, answer } = toAnswer(entry, at, provenance);
    if (answers.has(stepId))
      throw invalid(`${at}.stepId: this step has a result already in the same request`);
    answers.set(stepId, answer);
  }
  return answers;
}

function toAnswer(
  entry: unknown,
  at: string,
  provenance: Provenance,
): { readonly stepId: string; readonly answer: ClientAnswer } {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw invalid(`${at}: expected an object`);
  const { stepId, result, error } = entry as { stepId?: unknown; result?: unknown; error?: unknown };
  if (typeof stepId !== 'string') throw invalid(`${at}.stepId: expected a string`);
  if ((result === undefined) === (error === undefined)) {
    throw invalid(`${at}: expected either a result or an error`);
  }
  if (error === undefined) return { stepId, answer: { result: toJson(result, `${at}.result`), provenance } };
  const { code, message, data } = Object(error) as Record<string, unknown>;
  if (!Number.isSafeInteger(code)) throw invalid(`${at}.error.code: expected a whole number`);
  if (typeof message !== 'string') throw invalid(`${at}.error.message: expected a string`);
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

/** Checks at the door that something a client sent is plain JSON, without own `__proto__` keys. (T9) */
export function toJson(value: unknown, where: string): Json {
  try {
    assertJson(value, { where });
    return value;
  } catch (error) {
    if (error instanceof InvalidJson) throw invalid(error.message);
    throw error;
  }
}

/** The arguments of a call, checked at the door; absent ones are empty. (T9) */
export function toArguments(sent: unknown): Json {
  const args = toJson(sent ?? {}, 'arguments');
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw invalid('arguments: expected an object');
  return args;
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${message}`);
}

/** The ids of steps inside a program, and on the wire. */
export interface StepIds {
  toWire(stepId: string): string;
  /** The answers to steps of this generation, and those to older ones, which nobody waits for. */
  fromWire(answers: ReadonlyMap<string, ClientAnswer>): {
    readonly inner: ReadonlyMap<string, ClientAnswer>;
    readonly older: readonly IgnoredAnswer[];
  };
}

/** After the nth `continueAs` every id on the wire ends in `@n`: ids are never used twice in one saga. */
export function stepIdsOf(generation: number): StepIds {
  if (generation === 0) return { toWire: (stepId) => stepId, fromWire: (inner) => ({ inner, older: [] }) };
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
