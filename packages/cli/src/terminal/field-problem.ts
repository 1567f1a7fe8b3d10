import type { NumberField, TextField } from '@mcp-saga/client';
import * as z from 'zod';

/** Describes the problem of a text, or returns undefined for a valid text. */
export function textProblem(typed: string, field: TextField): string | undefined {
  const { minLength = 0, maxLength = Infinity, format } = field;
  // JSON Schema counts code points, not UTF-16 units.
  const { length } = Array.from(typed);
  if (length < minLength) return `At least ${characters(minLength)}, not ${length}`;
  if (length > maxLength) return `At most ${characters(maxLength)}, not ${length}`;
  if (format === undefined || formats[format][0].safeParse(typed).success) return undefined;
  return `Not ${formats[format][1]}`;
}

/** Describes the problem of a number, or returns undefined for a valid number. */
export function numberProblem(typed: string, field: NumberField): string | undefined {
  const { type, minimum = -Infinity, maximum = Infinity } = field;
  const value = Number(typed);
  // Number() also accepts '0x10' and ''.
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed) || !Number.isFinite(value))
    return 'Not a number';
  if (type === 'integer' && !Number.isSafeInteger(value)) return 'Not a whole number';
  if (value < minimum) return `At least ${minimum}`;
  if (value > maximum) return `At most ${maximum}`;
  return undefined;
}

const formats: Readonly<Record<NonNullable<TextField['format']>, readonly [z.ZodType, string]>> = {
  email: [z.email(), 'an email address, such as ada@example.com'],
  uri: [z.url(), 'an address, such as https://example.com'],
  date: [z.iso.date(), 'a date, such as 2026-07-28'],
  'date-time': [z.iso.datetime({ offset: true }), 'a date and time, such as 2026-07-28T09:30:00Z'],
};

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}
