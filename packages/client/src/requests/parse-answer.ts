import type { ContentBlock } from '@mcp-saga/core/shared';
import type { CallToolResult } from '../model/tool-result.ts';
import { isRecord } from '../runtime/json.ts';
import type { SagaStep, CompletedStep, SuspendedAnswer } from '../model/wire-types.ts';

/** Creates the error for an invalid field. */
export type Refuse = (field: string, problem: string) => Error;

/**
 * Parses the answer to `tools/callSaga` or `tools/resumeSaga`. Keeps unknown fields of a result.
 */
export function parseAnswer(value: unknown, refuse: Refuse): SuspendedAnswer | CallToolResult {
  if (!isRecord(value)) throw refuse('result', 'is not an object');
  if (value['state'] !== 'suspended') return parseResult(value, refuse);
  const { sagaToken, steps, retryAfterMs, content } = value;
  return {
    state: 'suspended',
    sagaToken: parseText(sagaToken, 'sagaToken', refuse),
    steps: parseSteps(steps, refuse),
    ...(retryAfterMs === undefined
      ? {}
      : { retryAfterMs: parseTime(retryAfterMs, 'retryAfterMs', refuse) }),
    ...(content === undefined ? {} : { content: parseContent(content, refuse) }),
  };
}

/** Parses a `CallToolResult`, as far as this package reads the result. */
export function parseResult(value: unknown, refuse: Refuse): CallToolResult {
  if (!isRecord(value)) throw refuse('result', 'is not an object');
  if (value['content'] === undefined && value['state'] !== undefined) {
    throw refuse('state', 'is not a state of a result');
  }
  if (value['isError'] !== undefined && typeof value['isError'] !== 'boolean') {
    throw refuse('isError', 'is not a boolean');
  }
  if (value['structuredContent'] !== undefined && !isRecord(value['structuredContent'])) {
    throw refuse('structuredContent', 'is not an object');
  }
  return { ...value, content: parseContent(value['content'], refuse) };
}

/** Parses content for the user. */
export function parseContent(value: unknown, refuse: Refuse): ContentBlock[] {
  if (!Array.isArray(value)) throw refuse('content', 'is not an array');
  return value.map((block: unknown, index) => {
    if (!isContentBlock(block)) throw refuse(`content[${index}].type`, 'is not a string');
    return block;
  });
}

// Unknown types of content pass, since later specifications can add types.
function isContentBlock(value: unknown): value is ContentBlock {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** Parses the steps of a turn. Unknown types pass, and are answered with an error. */
export function parseSteps(value: unknown, refuse: Refuse): SagaStep[] {
  if (!Array.isArray(value)) throw refuse('steps', 'is not an array');
  const ids = new Set<string>();
  return value.map((step: unknown, index) => {
    const path = `steps[${index}]`;
    if (!isRecord(step)) throw refuse(path, 'is not an object');
    const stepId = parseText(step['stepId'], `${path}.stepId`, refuse);
    if (ids.has(stepId)) throw refuse(`${path}.stepId`, 'is a duplicate');
    ids.add(stepId);
    if (!isStep(step, path, refuse)) throw refuse(path, 'is not a step');
    return step;
  });
}

function isStep(
  step: Readonly<Record<string, unknown>>,
  path: string,
  refuse: Refuse,
): step is SagaStep & typeof step {
  const type = parseText(step['type'], `${path}.type`, refuse);
  if (step['reason'] !== undefined && typeof step['reason'] !== 'string') {
    throw refuse(`${path}.reason`, 'is not a string');
  }
  const { params } = step;
  if (params !== undefined && !isRecord(params)) throw refuse(`${path}.params`, 'is not an object');
  if (type !== 'elicitation' && type !== 'sampling') return true;
  if (params === undefined) throw refuse(`${path}.params`, 'is missing');
  if (type === 'sampling') {
    if (!Array.isArray(params['messages']))
      throw refuse(`${path}.params.messages`, 'is not an array');
    return true;
  }
  if (typeof params['message'] !== 'string')
    throw refuse(`${path}.params.message`, 'is not a string');
  if (params['mode'] === 'url') parseText(params['url'], `${path}.params.url`, refuse);
  else if (!isRecord(params['requestedSchema']))
    throw refuse(`${path}.params.requestedSchema`, 'is not an object');
  return true;
}

/** Parses the answers of a stored saga. */
export function parseAnswers(value: unknown, refuse: Refuse): CompletedStep[] {
  if (!Array.isArray(value)) throw refuse('completedSteps', 'is not an array');
  return value.map((answer: unknown, index) => {
    const path = `completedSteps[${index}]`;
    if (!isRecord(answer)) throw refuse(path, 'is not an object');
    parseText(answer['stepId'], `${path}.stepId`, refuse);
    if (!isAnswer(answer)) throw refuse(path, 'has neither a result nor an error');
    return answer;
  });
}

function isAnswer(value: Readonly<Record<string, unknown>>): value is CompletedStep & typeof value {
  const { result, error } = value;
  if (error === undefined) return isRecord(result);
  return (
    result === undefined &&
    isRecord(error) &&
    Number.isInteger(error['code']) &&
    typeof error['message'] === 'string'
  );
}

/** Parses a string that is not empty. */
export function parseText(value: unknown, field: string, refuse: Refuse): string {
  if (typeof value !== 'string' || value === '') throw refuse(field, 'is not a non-empty string');
  return value;
}

/** Parses a time or duration in milliseconds. */
export function parseTime(value: unknown, field: string, refuse: Refuse): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw refuse(field, 'is not a number of milliseconds');
  }
  return value;
}
