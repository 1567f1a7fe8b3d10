import type { ClientStep } from '@mcp-saga/core';
import { toRequest } from '../../wire/step-requests.ts';
import type { TaskQuestion, TaskRecord } from './task-record.ts';

/** Questions of a task after a turn. An unchanged question keeps its key and answer; any other gets a new key: `target~2`. */
export function askedNow(
  record: Pick<TaskRecord, 'questions' | 'keys'>,
  used: readonly string[],
  steps: readonly ClientStep[],
): Pick<TaskRecord, 'questions' | 'keys'> {
  const counts = new Map(record.keys);
  const questions = steps.map((step): TaskQuestion => {
    const { stepId } = step;
    const request = toRequest(step);
    const before = record.questions.find(
      (question) =>
        question.stepId === stepId &&
        !used.includes(question.key) &&
        JSON.stringify(question.request) === JSON.stringify(request),
    );
    if (before !== undefined) return before;
    const count = (counts.get(stepId) ?? 0) + 1;
    counts.set(stepId, count);
    // No id of a step has a tilde.
    return { key: count === 1 ? stepId : `${stepId}~${count}`, stepId, request };
  });
  return { questions, keys: [...counts] };
}
