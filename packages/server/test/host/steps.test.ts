import { createSagaHost, saga, SagaError, step, type SagaHostOptions } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { describe, expect, it } from 'vitest';
import { failed, hostOf, oldKey } from '../fixtures/host.ts';

type Steps = NonNullable<SagaHostOptions['steps']>;
const anonymous = { caller: 'anonymous' } as const;

/** Fails each time, and counts. */
function failing() {
  let attempts = 0;
  const program = saga({ name: 'failing', version: '1' }, function* () {
    yield* step('fails', () => {
      attempts += 1;
      throw new SagaError('down');
    });
    return 'done';
  });
  return { program, attempts: () => attempts };
}

describe('the option steps.retry of a host', () => {
  it.each<[name: string, steps: Steps | undefined, expected: number]>([
    ['not given', undefined, 1],
    ['empty', {}, 1],
    ['a number', { retry: 3 }, 3],
    ['a policy', { retry: { attempts: 2, delay: 0 } }, 2],
    ['a policy that rejects the error', { retry: { attempts: 5, when: () => false } }, 1],
  ])('[E2] sets how often a step without a policy is tried: %s', async (_, steps, expected) => {
    const { program, attempts } = failing();
    const testing = { sleep: async () => undefined };
    const { host } = hostOf(program, { testing, ...(steps === undefined ? {} : { steps }) });
    failed(await host.start('failing', {}, anonymous));
    expect(attempts()).toBe(expected);
  });

  it.each<[given: unknown, message: string]>([
    [0, 'steps.retry must be a whole number from 1.'],
    [1.5, 'steps.retry must be a whole number from 1.'],
    [{ attempts: 0 }, 'steps.retry.attempts must be a whole number from 1.'],
    [{}, 'steps.retry.attempts must be a whole number from 1.'],
    [{ attempts: 2, delay: -1 }, 'steps.retry.delay is -1.'],
    [{ attempts: 2, maxDelay: Number.NaN }, 'steps.retry.maxDelay is NaN.'],
    [{ attempts: 2, factor: 0.5 }, 'steps.retry.factor must be a finite number that is 1 or more.'],
    [{ attempts: 2, when: true }, 'steps.retry.when: expected a function.'],
    ['often', 'steps.retry: expected a number of attempts, or a policy'],
    [null, 'steps.retry: expected a number of attempts, or a policy'],
    [{ attempts: 2, delayMs: 5 }, "There is no option 'steps.retry.delayMs'."],
  ])('is checked when the host starts: %j', (retry, message) => {
    const options = { sagas: [failing().program], keys: oldKey, name: 'deployer' };
    expect(() => createSagaHost({ ...options, steps: { retry } as never })).toThrow(message);
  });

  it('`retry` is refused outside of `steps`, with its name', () => {
    const options = { sagas: [failing().program], keys: oldKey, name: 'deployer' };
    const misplaced = { ...options, retry: 3 } as never;
    expect(() => createSagaHost(misplaced)).toThrow("Did you mean 'steps.retry'?");
    const misspelled = { ...options, steps: { retries: 3 } } as never;
    expect(() => createSagaHost(misspelled)).toThrow("There is no option 'steps.retries'.");
  });

  it('is an option of a server, too', () => {
    const options = { name: 'shop', version: '1', sagas: [failing().program], keys: oldKey };
    expect(() => serveSagas({ ...options, steps: { retry: 2 } })).not.toThrow();
    expect(() => serveSagas({ ...options, steps: { retry: 0 } })).toThrow('steps.retry must be');
  });
});
