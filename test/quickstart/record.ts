/**
 * `pnpm generate recording` runs the quickstart with scripted answers, and draws the recording and
 * matrix badge.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { rawClients } from '../matrix/raw-clients.ts';
import { sdkClients } from '../matrix/sdk-clients.ts';
import { drawRecording, matrixBadge, toLines } from './recording.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { stdout } = await promisify(execFile)(
  process.execPath,
  ['--import', 'tsx', 'examples/quickstart/start.ts', '--yes'],
  { cwd: root },
);
const output = stripVTControlCharacters(`$ npx -y pnpm@12.21.0 start --yes\n${stdout}`);
const folder = new URL('../../docs/public/', import.meta.url);
await writeFile(
  new URL('quickstart.svg', folder),
  drawRecording(toLines(output), 'The quickstart: two processes serve one saga in turns'),
);
await writeFile(new URL('matrix.svg', folder), matrixBadge(sdkClients.length + rawClients.length));
