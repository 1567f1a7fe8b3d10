import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSagaHost,
  elicit,
  saga,
  type KeySource,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { post, read } from '../../packages/server/test/fixtures/raw.ts';
import { decryptWithAws } from './keys/aws-kms.ts';
import { encryptedKeys, type Decrypt } from './keys/envelope.ts';
import { FakeKms } from './keys/fake-kms.ts';
import { decryptWithGoogle } from './keys/gcp-kms.ts';
import { serve } from './keys/server.ts';
import { keysOfTenants } from './keys/tenants.ts';
import { decryptWithVault } from './keys/vault.ts';

const google = 'projects/shop/locations/global/keyRings/sagas/cryptoKeys/orders';

/** How each service decrypts, and how its operator encrypts. */
const services: readonly {
  readonly name: string;
  readonly decrypt: (kms: FakeKms) => Decrypt;
  readonly encrypt: (kms: FakeKms, kid: string, key: Uint8Array) => string;
  readonly requests: readonly string[];
  readonly whyDown: string;
  readonly whyChanged: string;
}[] = [
  {
    name: 'AWS KMS',
    decrypt: (kms) => decryptWithAws(kms.awsClient(), 'alias/orders'),
    encrypt: (kms, kid, key) => {
      const pairs = JSON.stringify([
        ['kid', kid],
        ['service', 'orders'],
      ]);
      return kms.encrypt('alias/orders', pairs, key).toString('base64');
    },
    requests: ['TrentService.Decrypt'],
    whyDown: 'Error (KMSInternalException)',
    whyChanged: 'Error (InvalidCiphertextException)',
  },
  {
    name: 'Google Cloud KMS',
    decrypt: (kms) => decryptWithGoogle(google, kms.url, kms.url),
    encrypt: (kms, kid, key) => kms.encrypt(google, `orders/${kid}`, key).toString('base64'),
    requests: [
      'GET /computeMetadata/v1/instance/service-accounts/default/token',
      `POST /v1/${google}:decrypt`,
    ],
    whyDown: 'Error (HTTP_503)',
    whyChanged: 'Error (HTTP_400)',
  },
  {
    name: 'Vault',
    decrypt: (kms) => decryptWithVault(kms.url, 'orders', async () => 'hvs.granted'),
    encrypt: (kms, kid, key) =>
      `vault:v1:${kms.encrypt('orders', `orders/${kid}`, key).toString('base64')}`,
    requests: ['POST /v1/transit/decrypt/orders'],
    whyDown: 'Error (HTTP_503)',
    whyChanged: 'Error (HTTP_400)',
  },
];

const greet = saga({ name: 'greet', version: '1' }, function* () {
  const { name } = yield* elicit('name', {
    message: 'Name?',
    schema: z.object({ name: z.string() }),
  });
  return `Hello, ${name}`;
});
const answers = [{ stepId: 'name', result: { action: 'accept', content: { name: 'Ada' } } }];

let kms: FakeKms;
let folder: string;
let file: string;
let now: number;
let errors: string[];
beforeEach(async () => {
  kms = new FakeKms();
  await kms.listen();
  folder = await mkdtemp(join(tmpdir(), 'saga-keys-'));
  file = join(folder, 'keys.json');
  now = 1_760_000_000_000;
  errors = [];
});
afterEach(async () => {
  await kms.close();
  await rm(folder, { recursive: true });
});

function hostOf(keys: SagaHostOptions['keys']): SagaHost {
  return createSagaHost({
    sagas: [greet],
    name: 'orders',
    keys,
    hooks: { onError: (error) => errors.push(String(error)), onReject: () => undefined },
    testing: { clock: () => now, environment: 'production' },
  });
}

async function tokenOf(host: SagaHost, request = {}): Promise<string> {
  const turn = await host.start('greet', {}, request);
  if (turn.status !== 'suspended') throw new Error(turn.status);
  return turn.token;
}

describe.each(services)(
  'keys that $name decrypts',
  ({ decrypt, encrypt, requests, whyDown, whyChanged }) => {
    const k1 = randomBytes(32);
    const k2 = randomBytes(32);
    type Entry = readonly [kid: string, ciphertext: string];
    const written = async (...entries: readonly Entry[]): Promise<void> =>
      await writeFile(
        file,
        JSON.stringify(entries.map(([kid, ciphertext]) => ({ kid, ciphertext }))),
      );

    it('seal and open the tokens of a host', async () => {
      await written(['k1', encrypt(kms, 'k1', k1)]);
      const host = hostOf(encryptedKeys(file, decrypt(kms)));
      expect(kms.requests).toEqual([]);
      expect(await host.resume(await tokenOf(host), answers)).toMatchObject({
        result: 'Hello, Ada',
      });
      expect(kms.requests).toEqual(requests);
      // The very keys that the operator encrypted.
      const plain = hostOf([{ kid: 'k1', key: k1 }]);
      expect(await plain.resume(await tokenOf(host), answers)).toMatchObject({
        result: 'Hello, Ada',
      });
    });

    it('rotate with the file, without a restart', async () => {
      const [first, second] = [encrypt(kms, 'k1', k1), encrypt(kms, 'k2', k2)] as const;
      await written(['k1', first]);
      const source = encryptedKeys(file, decrypt(kms));
      let loading: unknown;
      const load: KeySource['load'] = () => {
        const keys = source.load('');
        loading = keys;
        return keys;
      };
      const host = hostOf({ load });
      const old = await tokenOf(host);
      const phase = async (...entries: readonly Entry[]): Promise<string> => {
        await written(...entries);
        now += 5 * 60_000;
        // Begins a refresh behind the answer.
        await host.inspect(old);
        await loading;
        return (await host.inspect(await tokenOf(host))).keyId;
      };
      expect(await phase(['k1', first], ['k2', second])).toBe('k1');
      expect(await phase(['k2', second], ['k1', first])).toBe('k2');
      expect(await host.resume(old, answers)).toMatchObject({ result: 'Hello, Ada' });
      expect(await phase(['k2', second])).toBe('k2');
      await expect(host.resume(old, answers)).rejects.toMatchObject({ reason: 'unknown_key' });
    });

    it('do not load while the service is down, and its error shows no key', async () => {
      await written(['k1', encrypt(kms, 'k1', k1)]);
      kms.isDown = true;
      const host = hostOf(encryptedKeys(file, decrypt(kms)));
      await expect(tokenOf(host)).rejects.toMatchObject({ code: 'keys_down' });
      expect(errors).toEqual([expect.stringContaining(whyDown)]);
      kms.isDown = false;
      now += 1_000;
      await tokenOf(host);
    });

    it('do not load if the file has a key with another ID', async () => {
      await written(['k2', encrypt(kms, 'k1', k1)]);
      await expect(tokenOf(hostOf(encryptedKeys(file, decrypt(kms))))).rejects.toMatchObject({
        code: 'keys_down',
      });
      expect(errors).toEqual([expect.stringContaining(whyChanged)]);
    });

    it('show nothing of a file that is not JSON', async () => {
      await writeFile(file, `k1:${k1.toString('base64url')}`);
      await expect(tokenOf(hostOf(encryptedKeys(file, decrypt(kms))))).rejects.toMatchObject({
        code: 'keys_down',
      });
      expect(errors).toEqual([expect.stringContaining('SyntaxError.')]);
      expect(errors[0]).not.toContain('k1:');
    });
  },
);

it('a server responds with keys that a KMS decrypts', async () => {
  const [aws] = services;
  const ciphertext = aws?.encrypt(kms, 'k7', randomBytes(32));
  await writeFile(file, JSON.stringify([{ kid: 'k7', ciphertext }]));
  const server = serve(kms.awsClient(), file);
  const listed = await read(await server.fetch(post('modern', 'tools/list', {})));
  expect(listed.last.result).toMatchObject({ tools: [{ name: 'order' }] });
  expect(kms.requests).toEqual([]);
  const { last } = await read(
    await server.fetch(post('modern', 'tools/callSaga', { name: 'order' })),
  );
  const [header = ''] = String(last.result?.['sagaToken']).split('.');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ kid: 'k7' });
});

describe('keys of tenants', () => {
  const of = (tenant: string): object => ({
    caller: { user: { extra: { tenant } }, principal: { subject: 'ada', client: 'app' } },
  });

  it('are decrypted by the key of each tenant', async () => {
    const key = randomBytes(32);
    const decryptFor = (tenant: string): Decrypt =>
      decryptWithAws(kms.awsClient(), `alias/${tenant}`);
    for (const tenant of ['acme', 'umbrella']) {
      const pairs = JSON.stringify([
        ['kid', 'k1'],
        ['service', 'orders'],
      ]);
      const ciphertext = kms.encrypt(`alias/${tenant}`, pairs, key).toString('base64');
      await writeFile(join(folder, `${tenant}.json`), JSON.stringify([{ kid: 'k1', ciphertext }]));
    }
    const host = hostOf(keysOfTenants(folder, decryptFor));
    const token = await tokenOf(host, of('acme'));
    await expect(host.resume(token, answers, of('umbrella'))).rejects.toMatchObject({
      code: 'refused',
    });
    expect(await host.resume(token, answers, of('acme'))).toMatchObject({ result: 'Hello, Ada' });
    await expect(tokenOf(host, of('../acme'))).rejects.toMatchObject({ code: 'keys_down' });
    expect(kms.requests).toHaveLength(2);
  });
});
