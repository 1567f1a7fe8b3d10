/** Recordings in files: found and replayed. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from '@mcp-saga/server';
import { SagaTestError } from '../../values/errors.ts';
import { replayRecording, type ReplayOptions } from './replay-recording.ts';

/** Options of `replayRecordings`. */
export interface ReplayRecordingsOptions extends Pick<ReplayOptions, 'ends'> {
  /** Sagas that the host serves. */
  readonly sagas: readonly Program[];
}

/** Recording in a file, as a test. */
export interface RecordingFile {
  /** Path of the file: title of the test. */
  readonly file: string;
  /** Replays the file on the current code. Throws `replay_mismatch`, with both sides. */
  readonly replay: () => Promise<void>;
}

/**
 * Finds recordings, and makes a test of each. A file `*.jsonl` contains the turns of a saga, a turn
 * per line, as `onTurn` of `recordSagas` gets.
 * @param pattern - a file, a folder, or a path with `*` for part of a name and `**` for folders;
 * relative to the working directory
 * @throws SagaTestError `script` if no file is found
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   return yield* step('charge', () => bank.charge(900));
 * });
 * for (const { replay } of replayRecordings('recordings/*.json', { sagas: [order] })) await replay();
 * ```
 */
export function replayRecordings(
  pattern: string | URL,
  { sagas, ...options }: ReplayRecordingsOptions,
): readonly RecordingFile[] {
  const files = filesOf(typeof pattern === 'string' ? pattern : fileURLToPath(pattern));
  if (files.length === 0) {
    throw new SagaTestError(
      'script',
      `No recordings found at ${String(pattern)}. Check the path, which is relative to the working directory.`,
    );
  }
  return files.map((path) => {
    const file = relative('', path).replaceAll('\\', '/');
    const replay = (): Promise<void> =>
      replayRecording(parsed(path, readFileSync(path, 'utf8')), sagas, { ...options, name: file });
    return { file, replay };
  });
}

function parsed(path: string, text: string): unknown {
  if (!path.endsWith('.jsonl')) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line): unknown => JSON.parse(line));
}

// Written by hand, since Node 20 has no globSync.
function filesOf(pattern: string): readonly string[] {
  const normal = pattern.replaceAll('\\', '/');
  const fixed = normal.split('/').findIndex((part) => part.includes('*'));
  if (fixed === -1) {
    if (!existsSync(pattern)) return [];
    return statSync(pattern).isDirectory()
      ? filesOf(join(pattern, '**/*.json'))
      : [resolve(pattern)];
  }
  const root = resolve(
    normal.split('/').slice(0, fixed).join('/') || (normal.startsWith('/') ? '/' : '.'),
  );
  if (!existsSync(root)) return [];
  const wanted = toRegExp(normal.split('/').slice(fixed).join('/'));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(
      (path) => wanted.test(path.replaceAll('\\', '/')) && statSync(join(root, path)).isFile(),
    )
    .toSorted()
    .map((path) => join(root, path));
}

function toRegExp(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/\*\*\/|\*\*|\*|\?/g, (wild) =>
      wild === '**/' ? '(?:.*/)?' : wild === '**' ? '.*' : wild === '*' ? '[^/]*' : '[^/]',
    );
  return new RegExp(`^${source}$`);
}
