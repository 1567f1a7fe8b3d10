import { isRecord } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import { SagaHostError } from '../../wire/errors.ts';
import type { StepAnswer } from '../../wire/step-answers.ts';

/**
 * Reads the two arguments that a model writes to continue a call: `resumeToken` and `answers`.
 *
 * A model copies text, and clients with strict schemas make it fill every argument. So both are
 * often empty, quoted, fenced as Markdown, broken over lines, or, as a part of a sentence, followed
 * by punctuation. What surrounds a value is removed here, before anything compares or opens it:
 * later code, and above all a guard, sees one text for one token. What a value says is never
 * guessed.
 */

/** Error of the answers that a model wrote. It names the field, never a value. */
export class InvalidAnswers extends SagaHostError {
  constructor(problem: string) {
    super('invalid_params', `Invalid params: ${problem}`);
    this.name = 'InvalidAnswers';
  }
}

/** Reads a resume token. Undefined if it is absent or empty. Not checked: it may be any value. */
export function toResumeToken(sent: unknown): unknown {
  if (typeof sent !== 'string') return isEmpty(sent) ? undefined : sent;
  const token = bareToken(unwrapped(sent, withoutLayerOfToken)).replaceAll(/\s/g, '');
  return wordsForNothing.has(token.toLowerCase()) ? undefined : token;
}

/**
 * Reads answers: results of MCP by step ID, as an object or its JSON text. Undefined if they are
 * absent or empty. Throws InvalidAnswers for other values.
 *
 * Also accepts the usual shortcuts of models: a string for a sampling step, and the bare content of
 * a form.
 */
export function toModelAnswers(sent: unknown, where: string): readonly StepAnswer[] | undefined {
  const answers = parsed(sent);
  if (isEmpty(answers)) return undefined;
  if (!isRecord(answers)) throw new InvalidAnswers(`${where}: expected a JSON object by step ID`);
  // The host checks the results.
  return Object.entries(answers).map(([stepId, answer]) => ({
    stepId,
    result: toResult(answer) as Json,
  }));
}

/**
 * Returns the arguments of a first call, without empty values of what only continues a call. Other
 * values of it are kept: see {@link continuationIn}.
 */
export function withoutContinuation(args: unknown): unknown {
  if (!isRecord(args)) return args;
  const { resumeToken, answers, ...others } = args;
  return {
    ...others,
    ...(toResumeToken(resumeToken) === undefined ? {} : { resumeToken }),
    ...(isEmpty(parsed(answers)) ? {} : { answers }),
  };
}

/**
 * Finds an argument that continues a call. Undefined if there is none with a value. No tool has such
 * an argument of its own: a host refuses its schema.
 */
export function continuationIn(args: unknown): 'resumeToken' | 'answers' | undefined {
  const { resumeToken, answers } = Object(args) as {
    readonly resumeToken?: unknown;
    readonly answers?: unknown;
  };
  if (toResumeToken(resumeToken) !== undefined) return 'resumeToken';
  return isEmpty(parsed(answers)) ? undefined : 'answers';
}

/** Removes a layer around a token, and punctuation behind it, which may stand behind the layer. */
function withoutLayerOfToken(text: string): string {
  const bare = peeled(text);
  let end = bare.length;
  while (end > 0 && isPunctuation(bare.charAt(end - 1))) end -= 1;
  // Nothing but punctuation is no empty token, with which a call would start anew.
  return end === 0 ? bare : bare.slice(0, end);
}

/**
 * Removes punctuation around a token, and a label before it, such as `token:`. A label without a
 * token stays: as an absent token, it would start the call anew.
 */
function bareToken(text: string): string {
  const bare = trimmed(text, isPunctuation);
  const named = trimmed(bare.replace(label, ''), isPunctuation);
  if (bare === '' || (named !== bare && wordsForNothing.has(named.toLowerCase()))) return text;
  return named;
}

const label = /^(?:resume[\s_-]*)?token["'`*]*\s*[:=]/i;

/**
 * Punctuation of sentences, JSON, and Markdown. No token begins or ends with it: its characters are
 * those of base64url, with dots between its parts.
 */
const punctuation: ReadonlySet<string> = new Set('.,;:!?()[]{}<>"\'`*…“”‘’«»');

function isPunctuation(char: string): boolean {
  return punctuation.has(char) || /\s/.test(char);
}

const wordsForNothing: ReadonlySet<string> = new Set(['', 'null', 'none', 'undefined']);

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return wordsForNothing.has(value.trim().toLowerCase());
  if (typeof value !== 'object') return value === undefined;
  return value === null || Object.keys(value).length === 0;
}

/** Reads a value that may be JSON text, also text within text. Returns any other text as it is. */
function parsed(sent: unknown): unknown {
  return typeof sent === 'string' ? unwrapped<unknown>(sent, parsedOnce) : sent;
}

/**
 * Removes layers around a text, up to the first value that is no text, or that has no layer: a
 * large text would otherwise be searched again and again.
 */
function unwrapped<T>(sent: string, withoutLayer: (text: string) => T | string): T | string {
  let value: T | string = sent;
  for (let layer = 0; layer < maxLayers && typeof value === 'string'; layer += 1) {
    const inner: T | string = withoutLayer(value);
    if (inner === value) break;
    value = inner;
  }
  return value;
}

function parsedOnce(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return peeled(text);
  }
}

/** Layers around a value: enough for every model, and few for an attacker. */
const maxLayers = 6;

/** Removes white space and one layer around a text: a fence of Markdown, or quotes. */
function peeled(text: string): string {
  const bare = text.trim();
  if (!bare.startsWith('```')) return isQuoted(bare) ? bare.slice(1, -1) : bare;
  // The word behind the fence names a language.
  return trimmed(bare, (char) => char === '`').replace(/^json\s|^[a-z]{0,12}\r?\n/i, '');
}

const quotes: ReadonlySet<string> = new Set(['""', "''", '``', '“”', '‘’', '«»']);

function isQuoted(text: string): boolean {
  return text.length > 1 && quotes.has(text.charAt(0) + text.charAt(text.length - 1));
}

/** Removes characters at both ends. A regular expression would take quadratic time for some texts. */
function trimmed(text: string, isRemoved: (char: string) => boolean): string {
  let start = 0;
  let end = text.length;
  while (start < end && isRemoved(text.charAt(start))) start += 1;
  while (end > start && isRemoved(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function toResult(answer: unknown): unknown {
  if (typeof answer === 'string') {
    return {
      role: 'assistant',
      content: { type: 'text', text: answer },
      model: 'the model that called',
    };
  }
  if (!isRecord(answer) || Object.hasOwn(answer, 'action') || hasMessage(answer)) return answer;
  return { action: 'accept', content: answer };
}

/**
 * `true` for a result with the content of a message: a block, or a list of blocks. Forms are flat,
 * so no field of a form holds an object.
 */
function hasMessage({ role, content }: { readonly [key: string]: unknown }): boolean {
  if (!Array.isArray(content)) return isRecord(content);
  return content.length === 0 ? role !== undefined : content.every(isRecord);
}
