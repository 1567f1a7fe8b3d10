import { digestText } from '@mcp-saga/seal';

/** Digests a JSON-RPC ID of any length to 96 bits, for a token. `1` and `"1"` are different IDs. */
export async function digestRequestId(id: string | number): Promise<string> {
  return (await digestText(JSON.stringify(id))).slice(0, 16);
}
