import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { bun, node, type Runtime } from '../../../test/runtimes/runtime.ts';

const program = fileURLToPath(new URL('support/run-suites.ts', import.meta.url));

// Node 20 has no `node:sqlite`.
it.each<[string, Runtime]>([
  ['node:sqlite', node('24.21.0')],
  ['bun:sqlite', bun('1.4.5')],
])('keeps every promise of a store with %s', async (kind, { executable }) => {
  const { stdout } = await promisify(execFile)(await executable(), [program, kind]);
  const { cases, failed } = JSON.parse(stdout) as {
    readonly cases: number;
    readonly failed: string[];
  };
  expect(failed).toEqual([]);
  expect(cases).toBeGreaterThan(30);
});
