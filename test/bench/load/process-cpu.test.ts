import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeWith } from '../../support/describe-with.ts';
import { knowsProcessorTime, processorTimeOf } from './process-cpu.ts';

const missing = knowsProcessorTime ? undefined : 'there is no /proc (Linux has one)';

describeWith('the processor time of a process', missing, () => {
  test('is what the system reports of this process, or more', () => {
    const { user, system } = process.cpuUsage();
    // The system rounds it to 10 ms, for the program and for its calls.
    expect(processorTimeOf(process.pid)).toBeGreaterThan(user + system - 30_000);
  });

  test('includes children of the process that have ended', () => {
    const before = processorTimeOf(process.pid);
    execFileSync(process.execPath, ['--eval', '']);
    // No start of Node takes less.
    expect(processorTimeOf(process.pid) - before).toBeGreaterThanOrEqual(10_000);
  });

  test('is unknown for a process that does not run', () => {
    // Linux has no process IDs as great.
    expect(() => processorTimeOf(2 ** 22 + 1)).toThrow('does not run');
  });
});
