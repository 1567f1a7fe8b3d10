/**
 * A path without what its author told runs of a step apart by, which may be an answer: `charge(*)` of `charge(7)`.
 * Before the first parenthesis and behind the last one stand ids and numbers only.
 */
export function withoutKeys(path: string): string {
  return path.replace(/\(.*\)/s, '(*)');
}

/**
 * A line of a log: nothing in it begins another line, or tells a terminal what to do. What names are made of is not
 * always what an author meant.
 */
export function oneLine(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- those are the ones
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
