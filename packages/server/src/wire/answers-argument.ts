import { isRecord } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import type { StepAnswer } from './step-answers.ts';
import { SagaHostError } from './errors.ts';

/**
 * The argument `answers` of a tool: an object by step id, as the JSON text that is listed or as it is. Each entry is the
 * result that an MCP client would give: `{action: 'accept', content}`, `{action: 'decline' | 'cancel'}`, or a `CreateMessageResult`.
 *
 * What models write instead is understood where it can mean only one thing: a string is what the model says to a
 * sampling step; an object that has no `action`, and no `content` that is an object, is the content of a form. All
 * else is left as it is: its step refuses it, with a reason.
 *
 * @param where - the field, for error messages
 * @throws SagaHostError `invalid_params` unless it is an object
 */
export function toModelAnswers(answers: unknown, where: string): readonly StepAnswer[] {
  if (answers === undefined) return [];
  const given = typeof answers === 'string' ? parsed(answers) : answers;
  if (!isRecord(given))
    throw new SagaHostError('invalid_params', `Invalid params: ${where}: expected an object, by step id`);
  // What is in it is checked by the host, before it is used.
  return Object.entries(given).map(([stepId, answer]) => ({ stepId, result: toResult(answer) as Json }));
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
  // Forms are flat, so content that is an object belongs to a result.
  if (!isRecord(answer) || Object.hasOwn(answer, 'action') || isRecord(answer['content'])) return answer;
  return { action: 'accept', content: answer };
}
