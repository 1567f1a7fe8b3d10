import { replayRecordings } from '@mcp-saga/testing/node';
import { it } from 'vitest';
import { triageIncident } from './saga.ts';

// The gate before a deploy: today's code asks, runs, and undoes the same steps for recorded
// incidents.
const recordings = replayRecordings(new URL('recordings/', import.meta.url), {
  sagas: [triageIncident],
});

it.each(recordings)('[R3] replays the turns of $file', ({ replay }) => replay());
