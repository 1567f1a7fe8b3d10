import type { Decrypt } from './envelope.ts';

// #region aws
/** The method of `new KMS({})` of `@aws-sdk/client-kms` that decrypts. */
export interface Kms {
  decrypt(input: {
    readonly KeyId: string;
    readonly CiphertextBlob: Uint8Array;
    readonly EncryptionContext: { readonly [name: string]: string };
  }): Promise<{ readonly Plaintext?: Uint8Array | undefined }>;
}

export function decryptWithAws(kms: Kms, keyId: string): Decrypt {
  return async (ciphertext, kid) => {
    const { Plaintext } = await kms.decrypt({
      KeyId: keyId,
      CiphertextBlob: Buffer.from(ciphertext, 'base64'),
      EncryptionContext: { service: 'orders', kid },
    });
    if (Plaintext === undefined) throw new Error('AWS KMS returned no plaintext.');
    return Plaintext;
  };
}
// #endregion aws
