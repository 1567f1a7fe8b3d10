import { toBase64Url } from '@mcp-saga/seal';

/** The id of one token (`jti`): 16 random bytes. */
export function newTokenId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
}
