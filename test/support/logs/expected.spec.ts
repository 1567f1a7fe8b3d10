import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectLogs } from '../logs.ts';

expectLogs('of-a-hook', /of many tests/);

beforeAll(() => console.warn('See docs/reference/errors.md#of-a-hook'));

it.each([1, 2])('passes with a log of many tests: %i', () => {
  console.info('%s of many tests', 'one');
});

it('passes with a log of its own', () => {
  console.error('What it does. See https://example.com/errors.md#busy');
  expectLogs('busy');
});

it('passes with a log for a spy', () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  console.error('caught');
  expect(error).toHaveBeenCalledWith('caught');
  error.mockRestore();
});

describe('a block', () => {
  expectLogs(/of the block/);

  afterEach(() => console.log('a log of the block'));

  it('passes with a log of its block', () => undefined);
});

describe.concurrent('tests at the same time', () => {
  it.each(['one', 'other'])('pass with a log: %s', async (name) => {
    expectLogs(new RegExp(name));
    await new Promise((resolve) => setTimeout(resolve, 5));
    console.debug(name);
  });
});
