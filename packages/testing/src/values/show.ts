const longest = 120;

/** Formats a value on one line, as JSON with names for other values. Truncates long values. */
export function show(value: unknown): string {
  return oneLine(showAll(value));
}

/** Formats a text on one line. Truncates a text longer than `length`. */
export function oneLine(text: string, length: number = longest): string {
  const line = unbroken(text);
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

function unbroken(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

/** Formats a value as source code, if it can be written. */
export function showAll(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'function') return `[function ${value.name}]`;
  try {
    return JSON.stringify(value, (_, inner: unknown) => plain(inner)) ?? `[${typeof value}]`;
  } catch {
    return '[cannot be shown]';
  }
}

/** Formats an error on one line, with its whole message. */
export function showError(error: unknown): string {
  const { name, message } = Object(error) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  if (typeof name !== 'string') return show(error);
  return message === '' || typeof message !== 'string' ? name : `${name}: ${unbroken(message)}`;
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Map) return { Map: [...value] };
  if (value instanceof Set) return { Set: [...value] };
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return value;
}

export function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `true` for an input without content. */
export function isEmpty(input: unknown): boolean {
  return (
    input === undefined ||
    (typeof input === 'object' && input !== null && Object.keys(input).length === 0)
  );
}

export function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
