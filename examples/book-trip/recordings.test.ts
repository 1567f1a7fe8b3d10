import { replayRecordings } from '@mcp-saga/testing/node';
import { it } from 'vitest';
import { bookTrip } from './saga.ts';

// The gate before a deploy: today's code continues trips that older code began.
const recordings = replayRecordings(new URL('recordings/', import.meta.url), { sagas: [bookTrip] });

it.each(recordings)('[R3] continues the recording $file', ({ replay }) => replay());
