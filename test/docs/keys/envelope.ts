// #region envelope
import { readFile } from 'node:fs/promises';
import type { KeySource } from '@mcp-saga/server';

/** Decrypts one key by a KMS. The KMS binds the ciphertext to the ID of the key. */
export type Decrypt = (ciphertext: string, kid: string) => Promise<Uint8Array>;

/** Keys of a file of encrypted keys, newest first: `[{ "kid": "k2", "ciphertext": "…" }, …]`. */
export function encryptedKeys(file: string, decrypt: Decrypt): KeySource {
  return {
    load: async () => {
      const list = JSON.parse(await readFile(file, 'utf8')) as {
        kid: string;
        ciphertext: string;
      }[];
      return await Promise.all(
        list.map(async ({ kid, ciphertext }) => ({ kid, key: await decrypt(ciphertext, kid) })),
      );
    },
  };
}
// #endregion envelope
