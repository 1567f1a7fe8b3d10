import { TokenRefused } from '@mcp-saga/seal';

/**
 * Reads the text of a sealed stream.
 *
 * @throws TokenRefused with reason `malformed` for bytes that are not UTF-8, and for a stream that is missing
 */
export function readSealedText(stream: Uint8Array | undefined): string {
  if (stream === undefined) throw new TokenRefused('malformed');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stream);
  } catch {
    throw new TokenRefused('malformed');
  }
}

/**
 * Reads the JSON of a sealed stream.
 *
 * @throws TokenRefused with reason `malformed`, and without a cause: the message of `JSON.parse` quotes the plaintext
 */
export function readSealedJson(stream: Uint8Array | undefined): unknown {
  const text = readSealedText(stream);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new TokenRefused('malformed');
  }
}
