import type { Recording } from './recording.ts';

/**
 * Formats a recording for a file: an event per line, for readable diffs.
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', () => api.ship());
 *   return 'done';
 * });
 * console.log(formatRecording((await testSaga(order).run()).recording));
 * ```
 */
export function formatRecording(recording: Recording): string {
  const fields = Object.entries(recording).map(
    ([name, value]) => `  ${JSON.stringify(name)}: ${field(name, value)}`,
  );
  return `{\n${fields.join(',\n')}\n}\n`;
}

function field(name: string, value: unknown): string {
  if (name === 'next')
    return formatRecording(value as Recording)
      .trim()
      .replaceAll('\n', '\n  ');
  if ((name !== 'happened' && name !== 'turns') || !Array.isArray(value) || value.length === 0)
    return inLine(value);
  return `[\n${value.map((item) => `    ${inLine(item)}`).join(',\n')}\n  ]`;
}

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => inLine(item)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}: ${inLine(inner)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
