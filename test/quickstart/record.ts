/**
 * `pnpm generate recording` runs the quickstart with scripted answers, and draws the recording and
 * matrix badge.
 */
import { writeFile } from 'node:fs/promises';
import { rawClients } from '../matrix/raw-clients.ts';
import { sdkClients } from '../matrix/sdk-clients.ts';
import { drawQuickstart, matrixBadge } from './recording.ts';

const folder = new URL('../../docs/public/', import.meta.url);
await writeFile(new URL('quickstart.svg', folder), await drawQuickstart());
await writeFile(new URL('matrix.svg', folder), matrixBadge(sdkClients.length + rawClients.length));
