import { isRecord } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import type { StepAnswer } from './step-answers.ts';
import { SagaHostError } from './errors.ts';

/**
 * Reads the argument `answers` of a tool: results of MCP by step ID, as an object or its JSON text.
 *
 * Also accepts what models write instead: a string for a sampling step, and the bare content of a form. Steps check the rest.
 * Throws `invalid_params`, with the field `where`, unless it is an object.
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
