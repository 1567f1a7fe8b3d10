import type { Json } from '@mcp-saga/server';
import { toJson } from './recorded-event.ts';

/** Converts an error to JSON with its plain fields, for retry policies. Never throws. */
export function thrownToJson(thrown: unknown): Json {
  if (typeof thrown !== 'object' || thrown === null) {
    return {
      name: 'Error',
      message: typeof thrown === 'string' ? thrown : `a ${typeof thrown} was thrown`,
    };
  }
  const fields: Record<string, Json> = {};
  for (const key of new Set(['name', 'message', 'code', 'data', ...keysOf(thrown)])) {
    const value = fieldOf(thrown, key);
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

export function thrownFrom(json: Json | undefined): Error {
  const {
    name = 'Error',
    message = '',
    ...rest
  } = Object(json) as { readonly [key: string]: unknown };
  const error = new Error(String(message));
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
