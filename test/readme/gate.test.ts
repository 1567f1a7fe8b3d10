import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testSaga } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, expect, it } from 'vitest';
import { book } from './book.ts';

// The folder of a project of its own, since paths are those of the working directory.
const home = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'gate-'));
process.chdir(folder);
afterAll(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

// #region input
const script = testSaga(book, { input: { room: 'R12' } }).on.elicit('sure', { sure: true });
const run = await script.run();
await run.save('recordings/booked.json');
// #endregion input

// #region gate
const recordings = replayRecordings('recordings/*.json', { sagas: [book] });
it.each(recordings)('$file replays with the current code', ({ replay }) => replay());
// #endregion gate

it('the gate finds the recording of a completed run', () => {
  expect(run.result).toBe('R12 is booked');
  expect(recordings.map(({ file }) => file)).toEqual(['recordings/booked.json']);
});
