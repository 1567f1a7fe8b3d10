import { completePolicy, isRecord, retryNames, type RetryPlan } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type { RetryPolicy } from '@mcp-saga/core';
import type { SagaHostOptions } from '../model/host-options.ts';
import { assertKnown } from './known-options.ts';

/**
 * Retries of steps that name none. Throws TypeError or RangeError for a wrong policy, which would
 * otherwise fail the first step that fails.
 */
export function toStepRetry({ steps }: Pick<SagaHostOptions, 'steps'>): RetryPlan | undefined {
  const retry: unknown = steps?.retry;
  if (retry === undefined) return undefined;
  if (typeof retry !== 'number') {
    if (!isRecord(retry))
      throw optionError(
        'steps.retry: expected a number of attempts, or a policy: { attempts: 3 }.',
      );
    assertKnown('steps.retry', retry, retryNames);
    if (retry['when'] !== undefined && typeof retry['when'] !== 'function')
      throw optionError('steps.retry.when: expected a function.');
  }
  return completePolicy(retry as RetryPolicy | number, (member, problem) => {
    const name = typeof retry === 'number' ? 'steps.retry' : `steps.retry.${member}`;
    return optionError(`${name} ${problem}`, { type: RangeError });
  });
}
