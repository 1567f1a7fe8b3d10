import type { NumberField, TextField } from '@mcp-saga/client';

/** Describes the problem of a text, or returns undefined for a valid text. */
export function textProblem(typed: string, field: TextField): string | undefined {
  const { minLength = 0, maxLength = Infinity, format } = field;
  // JSON Schema counts code points, not UTF-16 units.
  const { length } = Array.from(typed);
  if (length < minLength) return `At least ${characters(minLength)}, not ${length}`;
  if (length > maxLength) return `At most ${characters(maxLength)}, not ${length}`;
  if (format === undefined || isOfFormat[format](typed)) return undefined;
  return `Not ${formatNames[format]}`;
}

/** Describes the problem of a number, or returns undefined for a valid number. */
export function numberProblem(typed: string, field: NumberField): string | undefined {
  const { type, minimum = -Infinity, maximum = Infinity } = field;
  const value = Number(typed);
  // Number() also accepts '0x10' and ''.
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed) || !Number.isFinite(value)) return 'Not a number';
  if (type === 'integer' && !Number.isSafeInteger(value)) return 'Not a whole number';
  if (value < minimum) return `At least ${minimum}`;
  if (value > maximum) return `At most ${maximum}`;
  return undefined;
}

type Format = NonNullable<TextField['format']>;

const formatNames: Readonly<Record<Format, string>> = {
  email: 'an email address, such as ada@example.com',
  uri: 'an address, such as https://example.com',
  date: 'a date, such as 2026-07-28',
  'date-time': 'a date and time, such as 2026-07-28T09:30:00Z',
};

const isOfFormat: Readonly<Record<Format, (typed: string) => boolean>> = {
  email: (typed) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed),
  uri: (typed) => URL.canParse(typed),
  date: isDate,
  'date-time': (typed) => {
    const [date = '', time = ''] = typed.split(/t/i);
    return (
      isDate(date) &&
      /^\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i.test(time) &&
      !Number.isNaN(Date.parse(typed))
    );
  },
};

function isDate(typed: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(typed)) return false;
  const date = new Date(`${typed}T00:00:00Z`);
  // JavaScript reads the 31st of June as the 1st of July.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(typed);
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${count} characters`;
}
