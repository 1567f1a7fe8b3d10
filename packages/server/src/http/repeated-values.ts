import { isRecord } from '@mcp-saga/core/program';
import { maxAnswers } from '../model/host-limits.ts';
import { invalidField } from '../wire/errors.ts';

/** Values of each part of a request that a client can repeat: far more than any client sends. */
const mostValues = maxAnswers;

/**
 * Finds the part of a request that repeats more values than a client needs: messages of a batch,
 * members, answers, and all that is in its capabilities and its `_meta`. The SDK checks each of them,
 * which takes up to nine times as long as `JSON.parse`, also if the last one is wrong.
 *
 * Arguments and results are not counted: their tool, or the saga that asked, bounds their bytes.
 *
 * @returns the name of the part; undefined for a request with fewer values
 */
export function overfullPart(body: unknown): string | undefined {
  if (Array.isArray(body)) {
    if (body.length > mostValues) return 'batch';
    const all = { left: mostValues };
    for (const message of body) {
      const part = overfullIn(message, all);
      if (part !== undefined) return part;
    }
    return undefined;
  }
  return overfullIn(body, { left: mostValues });
}

/** @param all - values that the requests of a batch may repeat together */
function overfullIn(message: unknown, all: Allowance): string | undefined {
  if (!isRecord(message)) return undefined;
  if (!hasRoom(message, all)) return 'request';
  const { params } = message;
  if (!isRecord(params)) return undefined;
  const { _meta: meta, capabilities, inputResponses } = params;
  if (!hasRoom(params, all)) return 'params';
  if (isRecord(inputResponses) && !hasRoom(inputResponses, { left: maxAnswers }))
    return 'inputResponses';
  if (!hasRoomForAll(meta, all)) return '_meta';
  if (!hasRoomForAll(capabilities, all)) return 'capabilities';
  return undefined;
}

/** Number of values that may still follow. */
interface Allowance {
  left: number;
}

/** Counts the members of an object. */
function hasRoom(value: object, allowance: Allowance): boolean {
  allowance.left -= Object.keys(value).length;
  return allowance.left >= 0;
}

/** Counts the values in a value, at any depth. */
function hasRoomForAll(value: unknown, allowance: Allowance): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (!hasRoom(value, allowance)) return false;
  return Object.values(value).every((part) => hasRoomForAll(part, allowance));
}

/** Responds to a request with too many values in a part, as the SDK responds to a bad `_meta`. */
export function refuseOverfull(body: unknown, part: string): Response {
  const { id } = Object(body) as { readonly id?: unknown };
  const { message } = invalidField(`${part}: more than ${mostValues} values`);
  const error = { code: invalidParams, message };
  const isId = typeof id === 'string' || Number.isSafeInteger(id);
  return Response.json({ jsonrpc: '2.0', ...(isId ? { id } : {}), error }, { status: 400 });
}

const invalidParams = -32_602;
