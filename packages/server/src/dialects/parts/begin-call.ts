import { TokenRefused } from '@mcp-saga/seal';
import type { StepAnswer } from '../../wire/step-answers.ts';
import type { DialectCapabilities } from '../../model/dialect-capabilities.ts';
import { invalidField } from '../../wire/errors.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { SagaTurn } from '../../model/turn.ts';
import { frozenError, type FrozenAnswer } from '../../wire/wire-error.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { isRecord } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';

// Not the method of the request: neither a saga token nor a request state opens as a resume token.
export const resumeTokenMethod = 'tools/call#resumeToken';

/** Fixed response to a rejected resume token. */
export const resumeTokenRefused: FrozenAnswer = {
  message: 'Invalid or expired resumeToken',
  reason: 'invalid_resume_token',
};

/**
 * Begins a call under a sealed `method`: starts the saga, or continues it from the resume token of
 * the call.
 */
export async function beginCall(
  host: SagaHostCore,
  call: ClientCall,
  method: string,
  dialect: DialectCapabilities,
): Promise<SagaTurn> {
  const { saga, args, caller } = call;
  const token = resumeTokenOf(call);
  if (token === undefined) return await host.start(saga.name, args, caller, { method, dialect });
  // Interim results never contain tokens of sagas that only run as tasks.
  if (saga.task === 'require') throw frozenError(resumeTokenRefused);
  try {
    return await host.resume(token, answersOf(call, dialect), caller, {
      methods: [resumeTokenMethod],
      method,
      entry: { target: saga.name, args },
      answersField: 'arguments.answers',
      provenance: 'model',
      dialect,
    });
  } catch (error) {
    throw error instanceof TokenRefused ? frozenError(resumeTokenRefused) : error;
  }
}

/**
 * Reads the resume token of a call. Throws `invalid_params` for two different tokens, and for
 * answers without a token.
 */
export function resumeTokenOf(call: ClientCall): string | undefined {
  if (call.method !== 'tools/call') return undefined;
  const [first, ...others] = tokensOf(call);
  if (first === undefined) {
    if (argumentsOf(call).answers !== undefined)
      throw invalidField('arguments.answers: requires arguments.resumeToken');
    return undefined;
  }
  const [field, token] = first;
  if (typeof token !== 'string') throw frozenError(resumeTokenRefused);
  const other = others.find(([, another]) => another !== token);
  if (other !== undefined)
    throw invalidField(`${field}: differs from ${other[0]}. Send a single token`);
  return token;
}

/** `true` if a call has a resume token. */
export function isResumed(call: ClientCall): boolean {
  return call.method === 'tools/call' && tokensOf(call).length > 0;
}

function tokensOf(call: ClientCall): readonly (readonly [field: string, token: unknown])[] {
  return [
    ['arguments.resumeToken', argumentsOf(call).resumeToken] as const,
    ['params.resumeToken', call.params?.['resumeToken']] as const,
    ['_meta.resumeToken', call.meta['resumeToken']] as const,
  ].filter(([, token]) => token !== undefined);
}

/**
 * Reads the answers of the calling model. Throws for answers to questions that the client asks the
 * user.
 */
function answersOf(call: ClientCall, dialect: DialectCapabilities): readonly StepAnswer[] {
  // Without an error, the model would be asked the same questions again.
  for (const [where, { answers }] of [
    ['_meta', call.meta] as const,
    ['params', call.params ?? {}] as const,
  ])
    if (answers !== undefined)
      throw invalidField(`${where}.answers: send answers in arguments.answers`);
  const answers = toModelAnswers(argumentsOf(call).answers, 'arguments.answers');
  if (answers.some((answer) => isForUser(answer, dialect))) {
    throw invalidField(
      'arguments.answers: the client supports elicitation, so the user answers, not the model',
    );
  }
  return answers;
}

/**
 * `true` if an answer only fits questions that the client asks the user. An answer without content
 * may be for a URL.
 */
function isForUser(answer: StepAnswer, { asks = [] }: DialectCapabilities): boolean {
  const { action, content } = Object('result' in answer ? answer.result : undefined) as Record<
    string,
    unknown
  >;
  if (action === undefined) return false;
  return (
    asks.includes('elicitation') && (content !== undefined || asks.includes('elicitation.url'))
  );
}

function argumentsOf({ args }: ClientCall): {
  readonly resumeToken?: unknown;
  readonly answers?: unknown;
} {
  return Object(args) as { readonly resumeToken?: unknown; readonly answers?: unknown };
}

/**
 * Reads the argument `answers` of a tool: results of MCP by step ID, as an object or its JSON text.
 * Throws `invalid_params` for other values.
 *
 * Also accepts the usual shortcuts of models: a string for a sampling step, and the bare content of
 * a form.
 */
function toModelAnswers(answers: unknown, where: string): readonly StepAnswer[] {
  if (answers === undefined) return [];
  const given = typeof answers === 'string' ? parsed(answers) : answers;
  if (!isRecord(given)) throw invalidField(`${where}: expected an object by step ID`);
  // The host checks the results.
  return Object.entries(given).map(([stepId, answer]) => ({
    stepId,
    result: toResult(answer) as Json,
  }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
