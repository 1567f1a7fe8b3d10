import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectLogs } from '../logs.ts';

it('passes without a log', () => undefined);

it('fails with a log', () => console.error('unexpected 1'));

it('fails with another log than the expected one', () => {
  expectLogs('busy');
  console.warn('unexpected 2: errors.md#busy-or-not');
});

it('fails without the expected log', () => expectLogs(/missing 3/));

it('fails with a log after its end', () => {
  onTestFinished(() => console.log('unexpected 4'));
});

it('fails with a warning of the process', async () => {
  process.emitWarning('unexpected 5');
  await setImmediate();
});

it('fails for another reason, and shows its logs', () => {
  expectLogs(/expected 6/);
  console.error('expected 6');
  expect(1).toBe(2);
});

describe('a block that expects a log', () => {
  expectLogs(/of the block/);

  it('passes with the log', () => console.error('of the block'));
});

it('fails with the log of another block', () => console.error('7 of the block'));
