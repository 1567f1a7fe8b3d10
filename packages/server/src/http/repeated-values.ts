import { isRecord } from '@mcp-saga/core/program';
import { maxAnswers } from '../model/host-limits.ts';
import type { ReadRequest } from './json-body.ts';

/** Values of a message that a client can repeat: far more than any client sends. */
export const mostValues: number = maxAnswers;

/**
 * Parts of the parameters whose values are not counted: their tool, or the saga that asked, bounds
 * their bytes.
 */
const boundedParts: ReadonlySet<string> = new Set([
  'arguments',
  'inputResponses',
  'completedSteps',
]);

type Body = Pick<ReadRequest, 'parsedBody' | 'bodyLength'>;

/**
 * Finds the part of a request that repeats more values than a client needs: messages of a batch,
 * answers, or all that is in the parameters besides. The SDK checks each of them, and tells about
 * each wrong one, which takes up to 500 times as long as `JSON.parse`.
 *
 * @returns the name of the part; undefined for a request with fewer values
 */
export function overfullPart({ parsedBody: body, bodyLength = 0 }: Body): string | undefined {
  // A value takes two characters or more: most requests are too short, and are not counted.
  if (bodyLength < 2 * mostValues) return undefined;
  if (!Array.isArray(body)) return overfullIn(body);
  if (body.length > mostValues) return 'batch';
  for (const message of body) {
    const part = overfullIn(message);
    if (part !== undefined) return part;
  }
  return undefined;
}

function overfullIn(message: unknown): string | undefined {
  if (!isRecord(message)) return undefined;
  const left = { values: mostValues };
  if (!hasRoom(message, left)) return 'request';
  // A client of MCP 2025 posts its answers as messages.
  const { params, error, result } = message;
  if (isRecord(result) && !hasRoomForAll(result['_meta'], left)) return 'result._meta';
  if (!hasRoomForAll(error, left)) return 'error';
  if (!isRecord(params)) return hasRoomForAll(params, left) ? undefined : 'params';
  if (!hasRoom(params, left)) return 'params';
  for (const [name, value] of Object.entries(params)) {
    if (!boundedParts.has(name)) {
      if (!hasRoomForAll(value, left)) return name;
    } else if (name !== 'arguments' && !hasRoom(value, { values: maxAnswers })) return name;
  }
  return undefined;
}

/** Number of values that may still follow. */
interface Left {
  values: number;
}

/** Counts the members of an object, or the items of a list. */
function hasRoom(value: unknown, left: Left): boolean {
  if (typeof value !== 'object' || value === null) return true;
  left.values -= Array.isArray(value) ? value.length : Object.keys(value).length;
  return left.values >= 0;
}

/** Counts the values in a value, at any depth. */
function hasRoomForAll(value: unknown, left: Left): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return hasRoom(value, left) && Object.values(value).every((part) => hasRoomForAll(part, left));
}
