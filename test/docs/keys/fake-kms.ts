import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Kms } from './aws-kms.ts';

/**
 * Key management over HTTP, with the decrypt calls of AWS KMS, Google Cloud KMS, and the transit
 * engine of Vault.
 */
export class FakeKms {
  isDown = false;
  /** Paths of the requests, or the target of AWS. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #keys = new Map<string, Buffer>();

  constructor() {
    this.#server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const { status, answer } = this.#answer(request, body);
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(answer));
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Encrypts a key of a saga host, as an operator does. `context` is authenticated, not encrypted.
   */
  encrypt(master: string, context: string, plaintext: Uint8Array): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#keyOf(master), nonce).setAAD(
      Buffer.from(context),
    );
    return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  /** The client of the official SDK of AWS: JSON over HTTP, with the operation in a header. */
  awsClient(): Kms {
    return {
      decrypt: async ({ CiphertextBlob, ...input }) => {
        const response = await fetch(this.url, {
          method: 'POST',
          headers: {
            'x-amz-target': 'TrentService.Decrypt',
            'content-type': 'application/x-amz-json-1.1',
          },
          body: JSON.stringify({
            ...input,
            CiphertextBlob: Buffer.from(CiphertextBlob).toString('base64'),
          }),
        });
        const { __type: code, Plaintext } = (await response.json()) as {
          readonly [name: string]: string;
        };
        if (!response.ok) throw Object.assign(new Error('Refused.'), { code });
        return Plaintext === undefined ? {} : { Plaintext: Buffer.from(Plaintext, 'base64') };
      },
    };
  }

  #keyOf(master: string): Buffer {
    const key = this.#keys.get(master) ?? randomBytes(32);
    this.#keys.set(master, key);
    return key;
  }

  #answer(
    request: IncomingMessage,
    body: string,
  ): { readonly status: number; readonly answer: object } {
    const { method, url = '/', headers } = request;
    const target = headers['x-amz-target'];
    this.requests.push(target === undefined ? `${method} ${url}` : String(target));
    if (this.isDown) return { status: 503, answer: { __type: 'KMSInternalException' } };
    if (url.startsWith('/computeMetadata/v1/')) {
      const isAllowed = headers['metadata-flavor'] === 'Google';
      return { status: isAllowed ? 200 : 403, answer: { access_token: 'granted' } };
    }
    const sent = JSON.parse(body) as Record<string, unknown>;
    try {
      if (target === 'TrentService.Decrypt') return this.#aws(sent);
      const [, google] = /^\/v1\/(projects\/.*):decrypt$/.exec(url) ?? [];
      if (google !== undefined) return this.#google(google, headers.authorization, sent);
      const [, transit] = /^\/v1\/transit\/decrypt\/([\w-]+)$/.exec(url) ?? [];
      if (transit !== undefined) return this.#vault(transit, headers['x-vault-token'], sent);
      return { status: 404, answer: {} };
    } catch {
      // The wrong key, or another context than that of the encryption.
      return { status: 400, answer: { __type: 'InvalidCiphertextException' } };
    }
  }

  #aws({ KeyId, CiphertextBlob, EncryptionContext }: Record<string, unknown>): {
    status: number;
    answer: object;
  } {
    // AWS authenticates the pairs in any order.
    const pairs = Object.entries(EncryptionContext as Record<string, string>).toSorted(
      ([one], [other]) => one.localeCompare(other),
    );
    const plaintext = this.#decrypt(String(KeyId), JSON.stringify(pairs), String(CiphertextBlob));
    return { status: 200, answer: { KeyId, Plaintext: plaintext } };
  }

  #google(
    key: string,
    authorization: string | undefined,
    { ciphertext, additionalAuthenticatedData }: Record<string, unknown>,
  ): { status: number; answer: object } {
    if (authorization !== 'Bearer granted') return { status: 401, answer: {} };
    const context = Buffer.from(String(additionalAuthenticatedData), 'base64').toString();
    return { status: 200, answer: { plaintext: this.#decrypt(key, context, String(ciphertext)) } };
  }

  #vault(
    key: string,
    token: unknown,
    { ciphertext, associated_data: data }: Record<string, unknown>,
  ): { status: number; answer: object } {
    const [, sealed] = /^vault:v1:(.*)$/.exec(String(ciphertext)) ?? [];
    if (token !== 'hvs.granted' || sealed === undefined) return { status: 403, answer: {} };
    const context = Buffer.from(String(data), 'base64').toString();
    return { status: 200, answer: { data: { plaintext: this.#decrypt(key, context, sealed) } } };
  }

  #decrypt(master: string, context: string, sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.#keyOf(master), bytes.subarray(0, 12))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString(
      'base64',
    );
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
