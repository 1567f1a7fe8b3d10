import { expect, vi } from 'vitest';
import { type Command, isRunning } from '../support/command.ts';
import { longestWait } from '../support/patience.ts';

/** Reads the IDs of the two server processes from the output of `pnpm start`. */
export async function serversOf(command: Command): Promise<readonly number[]> {
  await command.printed(/B serves .*\(process \d+\)/);
  const pids = [...command.output.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(2);
  return pids;
}

/** Waits until none of these processes runs, however slow the machine is. */
export async function expectGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter(isRunning)).toStrictEqual([]), {
    timeout: longestWait,
  });
}
