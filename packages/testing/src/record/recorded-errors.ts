import { SagaError, type Json } from '@mcp-saga/server';
import { toStepErrorData } from '@mcp-saga/server/internal';
import { toJson } from './recorded-event.ts';

/** Causes that a saga may see behind an error. */
const maxCauses = 3;

/**
 * Converts a thrown value to JSON. A value that is no object gets the name and the message that the
 * saga sees. An error keeps its plain fields, which a retry policy may read. Never throws.
 */
export function thrownToJson(thrown: unknown, causes: number = maxCauses): Json {
  const seen = toStepErrorData(thrown);
  if (typeof thrown !== 'object' || thrown === null)
    return { name: seen.name, message: seen.message };
  const fields: Record<string, Json> = {};
  const known = ['name', 'message', 'code', 'status', 'cause', 'data'];
  for (const key of new Set([...known, ...keysOf(thrown)])) {
    const value = fieldOf(thrown, key);
    if (value !== undefined) fields[key] = value;
  }
  // Only a public `SagaError` is public, whatever fields other errors have.
  if (seen.public !== true) delete fields['public'];
  const cause = causes === 0 ? undefined : causeOf(thrown);
  if (cause !== undefined) fields['cause'] = thrownToJson(cause, causes - 1);
  return fields;
}

function causeOf(thrown: object): unknown {
  try {
    const { cause } = thrown as Partial<Error>;
    return typeof cause === 'object' && cause !== null ? cause : undefined;
  } catch {
    return undefined;
  }
}

/** Makes an error with the fields of a recorded one, which the saga treats alike. */
export function thrownFrom(json: Json | undefined): Error {
  const {
    name = 'Error',
    message = '',
    cause,
    ...rest
  } = Object(json) as { readonly [key: string]: Json; readonly message?: string };
  const inner = typeof cause === 'object' ? thrownFrom(cause) : cause;
  const options = inner === undefined ? {} : { cause: inner };
  // The message and the data of a public error are not cut, and a client may read the message.
  const error =
    rest['public'] === true ? new SagaError(message, options) : new Error(message, options);
  // Not by assignment: a field of that name may have a setter.
  for (const [key, value] of Object.entries({ name, ...rest })) {
    Object.defineProperty(error, key, {
      value,
      enumerable: key !== 'name',
      configurable: true,
      writable: true,
    });
  }
  return error;
}

function keysOf(thrown: object): readonly string[] {
  try {
    return Object.keys(thrown);
  } catch {
    return [];
  }
}

function fieldOf(thrown: object, key: string): Json | undefined {
  try {
    const value: unknown = Reflect.get(thrown, key);
    if (key === 'data') return value === undefined ? undefined : toJson(value);
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
