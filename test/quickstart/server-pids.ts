import { expect, vi } from 'vitest';
import { type Command, isRunning } from '../support/command.ts';

/** The two server processes that a run of `pnpm start` says it has started. */
export async function serversOf(command: Command): Promise<readonly number[]> {
  await command.printed(/B serves .*\(process \d+\)/);
  const pids = [...command.output.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(2);
  return pids;
}

/** Expects that none of these processes runs, at the latest a moment from now. */
export async function expectGone(pids: readonly number[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter(isRunning)).toStrictEqual([]), { timeout: 10_000 });
}
