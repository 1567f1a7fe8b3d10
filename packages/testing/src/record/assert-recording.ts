import { isRecord } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { recordingVersion, type RecordedTurn, type Recording } from './recording.ts';

type Fields = { readonly [name: string]: unknown };

/** Type of a field by name, with `?` if optional, or a check. */
type Shape = { readonly [name: string]: string | ((value: unknown, at: string) => void) };

/** Checks the form of a recording. Throws `script`, with the broken field. */
export function assertRecording(value: unknown): asserts value is Recording {
  const { recording, kind = 'journal', happened, end } = fieldsOf(value);
  if (recording === undefined || !Array.isArray(happened) || end === undefined)
    throw new SagaTestError(
      'script',
      'Not a recording of a saga: a recording has the fields `recording`, `happened`, and `end`.',
    );
  assertVersion(recording);
  if (kind === 'journal')
    assertShape(value, { ...head, input: 'json', happened: each(entry), end: ending });
  else if (kind === 'turns') {
    assertShape(value, {
      ...head,
      input: 'json',
      turns: each(beginning),
      happened: each(turnEvent),
      end: ending,
    });
    const { turns } = value as { readonly turns: readonly unknown[] };
    assertTurns(turns.length, happened as readonly { readonly turn: number }[]);
  } else
    throw new SagaTestError(
      'script',
      `Unknown kind of recording: ${JSON.stringify(kind)}. This release reads 'journal' and 'turns'.`,
    );
}

/** Checks the form of a recorded turn. Throws `script`, with the broken field. */
export function assertTurn(value: unknown): asserts value is RecordedTurn {
  const { recording, kind } = fieldsOf(value);
  if (recording === undefined || kind !== 'turn')
    throw new SagaTestError(
      'script',
      'Not a recorded turn: pass turns that `recordSagas` gave to `onTurn`.',
    );
  assertVersion(recording);
  const { turn: _, ...machine } = turnEvent;
  const { journal } = value as { readonly journal?: unknown };
  assertShape(value, {
    ...head,
    ...beginning,
    turn: 'number',
    from: 'string?',
    to: 'string?',
    journal: 'boolean?',
    happened: each(journal === true ? entry : machine),
    end: (end, at) => {
      if (end !== undefined) ending(end, at);
    },
  });
}

const head: Shape = { saga: 'string', version: 'string', redacted: 'array?' };
const event: Shape = { kind: 'string', id: 'string', outcome: 'string', redacted: 'array?' };
const entry: Shape = { ...event, letter: 'string', fingerprint: 'number' };
const turnEvent: Shape = {
  ...event,
  turn: 'number',
  run: 'number?',
  ms: 'number?',
  waited: 'number?',
};
const beginning: Shape = {
  time: (time, at) => {
    if (typeof time !== 'string' || Number.isNaN(Date.parse(time)))
      throw broken(at, 'is not a time in ISO 8601');
  },
  host: 'object',
};

function ending(end: unknown, at: string): void {
  const { status } = fieldsOf(end);
  const shape = ends[typeof status === 'string' ? status : ''];
  if (shape === undefined) throw broken(`${at}.status`, 'is unknown');
  assertShape(end, shape, `${at}.`);
}

const ends: { readonly [status: string]: Shape | undefined } = {
  completed: { result: 'json' },
  failed: { error: 'object', compensated: 'array', uncompensated: 'array' },
  continued: { saga: 'string', version: 'string' },
};

function assertVersion(recording: unknown): void {
  if (recording !== recordingVersion)
    throw new SagaTestError(
      'script',
      `Unknown format of recording: ${JSON.stringify(recording)}. This release reads format ${recordingVersion}.`,
    );
}

function assertTurns(turns: number, happened: readonly { readonly turn: number }[]): void {
  let turn = 1;
  for (const [index, { turn: at }] of happened.entries()) {
    if (!Number.isInteger(at) || at < turn || at > turns)
      throw broken(`happened[${index}].turn`, 'is out of order');
    turn = at;
  }
}

function each(shape: Shape): (list: unknown, at: string) => void {
  return (list, at) => {
    if (!Array.isArray(list)) throw broken(at, 'is not a list');
    for (const [index, item] of list.entries()) assertShape(item, shape, `${at}[${index}].`);
  };
}

function assertShape(value: unknown, shape: Shape, prefix = ''): void {
  const fields = fieldsOf(value);
  for (const [name, check] of Object.entries(shape)) {
    const at = prefix + name;
    const field = fields[name];
    if (typeof check === 'function') check(field, at);
    else if (!(check.endsWith('?') && field === undefined) && !isA(check.replace('?', ''), field))
      throw broken(
        at,
        check === 'json' ? 'is missing' : `must be of type ${check.replace('?', '')}`,
      );
  }
}

function isA(type: string, value: unknown): boolean {
  if (type === 'json') return value !== undefined;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  return typeof value === type;
}

function broken(at: string, why: string): SagaTestError {
  return new SagaTestError('script', `Broken recording: ${at} ${why}.`);
}

function fieldsOf(value: unknown): Fields {
  return Object(value) as Fields;
}
