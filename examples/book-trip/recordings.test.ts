import { replayRecordings } from '@mcp-saga/testing/node';
import { it } from 'vitest';
import { bookTrip } from './saga.ts';

// The gate before a deploy: trips that were begun under the code of then go on under the code of today.
const recordings = replayRecordings(new URL('recordings/', import.meta.url), { sagas: [bookTrip] });

it.each(recordings)('[R3] goes on with what $file tells', ({ replay }) => replay());
