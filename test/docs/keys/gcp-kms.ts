import type { Decrypt } from './envelope.ts';

// #region gcp
/**
 * Decrypts as the service account of the machine. `key` is
 * `projects/…/locations/…/keyRings/…/cryptoKeys/…`.
 */
export function decryptWithGoogle(
  key: string,
  kms: string = 'https://cloudkms.googleapis.com',
  metadata: string = 'http://metadata.google.internal',
): Decrypt {
  const account = `${metadata}/computeMetadata/v1/instance/service-accounts/default/token`;
  return async (ciphertext, kid) => {
    const granted = await answerOf(fetch(account, { headers: { 'metadata-flavor': 'Google' } }));
    const additionalAuthenticatedData = Buffer.from(`orders/${kid}`).toString('base64');
    const { plaintext } = await answerOf(
      fetch(`${kms}/v1/${key}:decrypt`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${String(granted['access_token'])}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ciphertext, additionalAuthenticatedData }),
      }),
    );
    return Buffer.from(String(plaintext), 'base64');
  };
}

async function answerOf(request: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await request;
  // The log of the host shows the code, and not the message.
  if (!response.ok)
    throw Object.assign(new Error('No answer.'), { code: `HTTP_${response.status}` });
  return (await response.json()) as Record<string, unknown>;
}
// #endregion gcp
