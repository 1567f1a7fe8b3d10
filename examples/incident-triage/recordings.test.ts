import { replayRecordings } from '@mcp-saga/testing/node';
import { it } from 'vitest';
import { triageIncident } from './saga.ts';

// The gate before a deploy: what was asked, done and undone for these incidents is the same under the code of today.
const recordings = replayRecordings(new URL('recordings/', import.meta.url), { sagas: [triageIncident] });

it.each(recordings)('[R3] takes the turns of $file again', ({ replay }) => replay());
