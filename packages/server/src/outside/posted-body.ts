/**
 * Reads the body of a request as text, up to a number of bytes. Returns undefined for a longer
 * body.
 */
export async function limitedText(
  { body }: Request,
  maxBytes: number,
): Promise<string | undefined> {
  if (body === null) return '';
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  // Signatures cover the byte order mark, too.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let length = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Reads the fields of a posted form: all values of each name, in the order in which they came. */
export function postedFields(body: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  // In one pass: `getAll` searches all fields, and a body may have very many names.
  for (const [name, value] of new URLSearchParams(body)) {
    const values = fields.get(name);
    if (values === undefined) fields.set(name, [value]);
    else values.push(value);
  }
  return fields;
}
