// PostgreSQL stores no NUL, no client sends half of a surrogate pair, and the values of a list are words.
const unstorable = /[%\s\p{Cc}\p{Cs}]/gu;
const escaped = /%([0-9a-f]{4})/g;

/** Escapes a text of any characters as one word. */
export function wordOf(text: string): string {
  return text.replaceAll(
    unstorable,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Restores the text of a word. */
export function textOf(word: unknown): string {
  return String(word).replaceAll(escaped, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/**
 * Length of keys beyond which their digest is stored: an index of PostgreSQL has a limit of 2,704
 * bytes.
 */
const longest = 200;
const digestPrefix = 'sha256:';

/** Returns the stored key for a name of any length. */
export async function keyOf(name: string): Promise<string> {
  if (name.length <= longest && !name.startsWith(digestPrefix)) return wordOf(name);
  return digestPrefix + (await digestOf(wordOf(name)));
}

/** SHA-256 of a text, in hexadecimal. */
export async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
