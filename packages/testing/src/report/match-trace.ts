/** Line of an expected trace that matches any number of lines. */
const anything = new Set(['…', '...']);

export interface TraceMatch {
  readonly pass: boolean;
  /** Expected trace for a diff: a matching line is the actual one. */
  readonly expected: string;
  readonly actual: string;
}

/**
 * Compares a trace with expected lines: `ran charge` matches `ran charge: {"id":1}`, and `…`
 * matches any number of lines.
 */
export function matchTrace(
  actual: readonly string[],
  expected: string | readonly string[],
): TraceMatch {
  const wanted = linesOf(expected);
  const met = match(actual, wanted, 0, 0, new Map());
  const shown: string[] = [];
  let at = 0;
  for (const [index, line] of wanted.entries()) {
    if (anything.has(line)) {
      const next = wanted[index + 1];
      const until = next === undefined ? actual.length : indexOf(actual, next, at);
      const skipped = actual.slice(at, until === -1 ? at : until);
      shown.push(...skipped);
      at += skipped.length;
    } else if (isLine(actual[at], line)) {
      shown.push(actual[at] as string);
      at += 1;
    } else {
      shown.push(line);
      const later = indexOf(actual, line, at);
      // A later line matches: the lines before are unexpected.
      if (later !== -1) {
        shown[shown.length - 1] = actual[later] as string;
        at = later + 1;
      } else if (!wanted.slice(index + 1).some((other) => isLine(actual[at], other))) {
        at += 1;
      }
    }
  }
  return { pass: met, expected: shown.join('\n'), actual: actual.join('\n') };
}

function linesOf(expected: string | readonly string[]): readonly string[] {
  const lines = typeof expected === 'string' ? expected.split('\n') : expected;
  return lines.map((line) => line.trim().replace(/^turn \d+ +/, '')).filter((line) => line !== '');
}

function match(
  actual: readonly string[],
  wanted: readonly string[],
  from: number,
  at: number,
  known: Map<string, boolean>,
): boolean {
  const line = wanted[from];
  if (line === undefined) return at === actual.length;
  const key = `${from} ${at}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const met = anything.has(line)
    ? match(actual, wanted, from + 1, at, known) ||
      (at < actual.length && match(actual, wanted, from, at + 1, known))
    : isLine(actual[at], line) && match(actual, wanted, from + 1, at + 1, known);
  known.set(key, met);
  return met;
}

function indexOf(actual: readonly string[], line: string, from: number): number {
  return actual.findIndex((each, index) => index >= from && isLine(each, line));
}

/** `true` if a line begins with the expected words. */
function isLine(actual: string | undefined, expected: string): boolean {
  if (actual === undefined || !actual.startsWith(expected)) return false;
  return (
    actual.length === expected.length ||
    !/[\w/#]/.test(actual.charAt(expected.length)) ||
    /\W$/.test(expected)
  );
}
