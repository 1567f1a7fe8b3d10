import { sealedBytes } from '@mcp-saga/core/program';
import { expect, it } from 'vitest';
import { maxAnswersOf, mostBoxBytes } from '../../src/outside/tickets/stored-answers.ts';
import { resolveHostLimits } from '../../src/settings/default-limits.ts';
import { answersInRecord } from '../../src/token/guard-records.ts';
import { unsealedBytes } from '../../src/token/token-room.ts';

/** Bytes of a row of D1, and of an entry of a Durable Object: the smallest stores. */
const entryBytes = 2_000_000;
/** Bytes of a message of Amazon SQS, the smallest queue. */
const messageBytes = 262_144;

const { maxTokenBytes, maxAnswerBytes, maxInflatedBytes } = resolveHostLimits();

// The value of each row passes through the next one. `doors.property.test.ts` shows the same for the
// room that is left in a token, which depends on the saga.
it.each<[string, number, string, number]>([
  ['the arguments of a call', maxTokenBytes, 'the content of a token', maxInflatedBytes],
  ['an answer of the client', maxAnswerBytes, 'the content of a token', maxInflatedBytes],
  [
    'the record of a request at the guard',
    sealedBytes(answersInRecord * maxAnswerBytes) + 4096,
    'an entry of a store',
    entryBytes,
  ],
  ['all answers in one list', mostBoxBytes, 'an entry of a store', entryBytes],
  ['a task with its token', sealedBytes(maxTokenBytes) * 2, 'an entry of a store', entryBytes],
  ['the message of a queue', sealedBytes(maxTokenBytes) + 4096, 'a message of SQS', messageBytes],
])('%s (%d bytes) is not larger than %s (%d bytes)', (_, door, __, behind) => {
  expect(door).toBeLessThanOrEqual(behind);
});

it.each([65_536, 1_048_576, 16 * 1_048_576])(
  'the answers of a box fit an entry of a store with tokens of %d bytes, whatever the room of one answer',
  (limit) => {
    const most = unsealedBytes(limit);
    for (const room of [144, 1_000, 35_000, most / 2, most].filter((one) => one <= most)) {
      for (const kind of ['approval', 'event'] as const) {
        const count = maxAnswersOf({ kind, room });
        // One answer must be possible. With larger tokens, choose a store that holds it.
        if (count > 1) expect(count * sealedBytes(room)).toBeLessThanOrEqual(mostBoxBytes);
      }
    }
  },
);
