import { present } from './json.ts';
import { encode } from './codec.ts';
import { SagaError, type StepErrorData } from './errors.ts';

/** Bytes of each string. Libraries put whole pages and responses into their messages. */
const maxTextBytes = 1024;
/** Number of causes behind an error. */
const maxCauses = 3;
/** Bytes of the encoded `data` of an error. HTTP clients put whole responses there. */
const maxDataBytes = 4096;

/**
 * Converts a thrown value to plain data for the journal: the strings and numbers that libraries
 * write, bounded, so that an error never fills a token. Never throws, even if a getter does.
 */
export function toStepErrorData(thrown: unknown): StepErrorData {
  const isPublic = isForClient(thrown);
  const facts = factsOf(thrown, maxCauses);
  if (typeof thrown !== 'object' || thrown === null) return facts;
  const data = readThrown(thrown, 'data');
  return {
    ...facts,
    // The author wrote this message for the client, and bounds it.
    ...(isPublic ? { message: String(readThrown(thrown, 'message')), public: true } : {}),
    ...present({ data }),
  };
}

type ErrorFacts = Pick<StepErrorData, 'name' | 'message' | 'code' | 'status' | 'cause'>;

function factsOf(thrown: unknown, causes: number): ErrorFacts {
  if (typeof thrown !== 'object' || thrown === null)
    return {
      name: 'Error',
      message: textOf(thrown) ?? `a value of type ${typeof thrown} was thrown`,
    };
  const cause = causes === 0 ? undefined : toCause(readThrown(thrown, 'cause'), causes - 1);
  return {
    name: textOf(readThrown(thrown, 'name')) ?? 'Error',
    message: textOf(readThrown(thrown, 'message')) ?? '',
    ...present({
      code: scalarOf(readThrown(thrown, 'code')),
      status: scalarOf(readThrown(thrown, 'status')),
      cause,
    }),
  };
}

/** Converts a cause to an error that the codec keeps as it is. */
function toCause(thrown: unknown, causes: number): unknown {
  if (typeof thrown !== 'object' || thrown === null) return scalarOf(thrown);
  const { message, cause, ...facts } = factsOf(thrown, causes);
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), facts);
}

/** Reads a member of a thrown object, whose getters and proxies may throw. */
export function readThrown(thrown: object, key: string): unknown {
  try {
    return Reflect.get(thrown, key);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  const scalar = scalarOf(value);
  return scalar === undefined ? undefined : String(scalar);
}

function scalarOf(value: unknown): string | number | undefined {
  if (typeof value === 'string') return cut(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Cuts a string at a number of bytes in UTF-8, and marks the cut. */
function cut(text: string): string {
  const mark = '…';
  // No character takes more than three bytes per UTF-16 unit.
  if (text.length * 3 <= maxTextBytes) return text;
  const bytes = new Uint8Array(maxTextBytes);
  const { read: whole } = new TextEncoder().encodeInto(text, bytes);
  if (whole === text.length) return text;
  const { read: kept } = new TextEncoder().encodeInto(text, bytes.subarray(mark.length * 3));
  return text.slice(0, kept) + mark;
}

// The prototype of a thrown value can throw, too.
function isForClient(thrown: unknown): boolean {
  try {
    return thrown instanceof SagaError && thrown.public && typeof thrown.message === 'string';
  } catch {
    return false;
  }
}

/**
 * Encodes a thrown value for the journal. Omits `data` that cannot be encoded or has more than 4 kB,
 * so that the step fails with its own error, and not the saga for the size of its token. The `data`
 * of a public `SagaError` stays at any size: the author chose it.
 */
export function encodeError(thrown: unknown): string {
  const { data, ...facts } = toStepErrorData(thrown);
  if (data === undefined) return encode(facts);
  try {
    const isKept = facts.public === true || !isLongerThan(maxDataBytes, encode(data));
    return encode(isKept ? { ...facts, data } : facts);
  } catch {
    return encode(facts);
  }
}

function isLongerThan(bytes: number, text: string): boolean {
  return text.length > bytes || new TextEncoder().encode(text).length > bytes;
}
