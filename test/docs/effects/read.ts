import { elicit, info, log, now, progress, random, saga, step, uuid } from '@mcp-saga/server';
import { z } from 'zod';

// #region now
const Answer = z.object({ answer: z.string() });

export const measure = saga({ name: 'measure', version: '1' }, function* () {
  const asked = yield* now();
  yield* elicit('answer', { message: 'What is 6 times 7?', schema: Answer });
  const answered = yield* now();
  return `Answered after ${answered - asked} ms.`;
});
// #endregion now

// #region random
export const draw = saga({ name: 'draw', version: '1' }, function* () {
  const number = 1 + Math.floor((yield* random()) * 6);
  yield* elicit('guess', { message: 'Guess a number from 1 to 6.', schema: Answer });
  return `It was ${number}.`; // the same number as before the question
});
// #endregion random

// #region uuid
export const ticket = saga({ name: 'ticket', version: '1' }, function* () {
  const id = yield* uuid();
  yield* elicit('problem', { message: `Describe the problem of ticket ${id}.`, schema: Answer });
  return `Opened ticket ${id}.`;
});
// #endregion uuid

// #region info
const Team = z.object({ team: z.string() });

export const assign = saga({ name: 'assign', version: '1' }, function* () {
  const { team } = yield* elicit('team', { message: 'Which team?', schema: Team });
  const { sagaId, answeredBy } = yield* info();
  return `${sagaId} goes to ${team}, chosen by the ${answeredBy('team')}.`;
});
// #endregion info

// #region progress
export const convert = saga({ name: 'convert', version: '1' }, function* () {
  for (const file of ['a.png', 'b.png']) {
    yield* step('convert', () => `converted ${file}`, { key: file });
    yield* progress(file === 'a.png' ? 1 : 2, 2, `Converted ${file}`);
  }
  return 'Converted 2 files.';
});
// #endregion progress

// #region log
export const sync = saga({ name: 'sync', version: '1' }, function* () {
  const copied = yield* step('copy', () => 12);
  yield* log('info', { event: 'copied', files: copied });
  return `Copied ${copied} files.`;
});
// #endregion log
