import type { Decrypt } from './envelope.ts';

// #region vault
/**
 * Decrypts by the transit engine of Vault. `token` returns the current token, such as the file that
 * Vault Agent writes.
 */
export function decryptWithVault(
  address: string,
  key: string,
  token: () => Promise<string>,
): Decrypt {
  return async (ciphertext, kid) => {
    const response = await fetch(`${address}/v1/transit/decrypt/${key}`, {
      method: 'POST',
      headers: { 'x-vault-token': await token(), 'content-type': 'application/json' },
      body: JSON.stringify({
        ciphertext,
        associated_data: Buffer.from(`orders/${kid}`).toString('base64'),
      }),
    });
    if (!response.ok)
      throw Object.assign(new Error('Vault did not decrypt.'), { code: `HTTP_${response.status}` });
    const { data } = (await response.json()) as { readonly data: { readonly plaintext: string } };
    return Buffer.from(data.plaintext, 'base64');
  };
}
// #endregion vault
