import { digestText } from '@mcp-saga/seal';

/** Digests a JSON-RPC ID, which may be of any length, for a token: 96 bits. The ID `1` is another one than `"1"`. */
export async function digestRequestId(id: string | number): Promise<string> {
  return (await digestText(JSON.stringify(id))).slice(0, 16);
}
