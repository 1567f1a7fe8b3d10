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
