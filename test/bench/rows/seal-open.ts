import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import {
  createKeyRing,
  createSealer,
  createTokenId,
  digestArguments,
  generateKey,
  type Claims,
} from '@mcp-saga/seal';
import { compare } from '../compare.ts';
import type { Candidate } from '../harness.ts';
import type { Row } from '../row.ts';

/**
 * Seals and opens one token, compared with the SDK's codec, which only signs, and with bare
 * AES-256-GCM. The codec is measured with the binding to method and client that its documentation
 * shows, and without a binding.
 */
export const sealOpen: Row = async ({ effort }) => {
  // Measured in pairs: the codec uses other threads, which continue for a while after its turn.
  return [
    await compare('seal-open-gcm', [sealing(), encrypting()], effort),
    await compare(
      'seal-open-codec',
      [
        sealing(),
        signing('SDK codec, signed only', true),
        signing('the same, bound to nobody', false),
      ],
      effort,
    ),
  ];
};

// Typical state of a travel booking at its last question: 1.35 KB as JSON.
const state = {
  step: 'confirm',
  traveller: {
    name: 'Maria Anjos Pereira',
    email: 'maria.pereira@example.com',
    phone: '+351 912 555 017',
  },
  journey: {
    from: 'Lisboa Oriente',
    to: 'Madrid Puerta de Atocha',
    date: '2026-03-14',
    flexible: true,
    classes: ['comfort', 'standard'],
  },
  offers: [
    {
      id: 'of_7Qm2',
      carrier: 'Renfe',
      departs: '07:05',
      arrives: '16:42',
      changes: 2,
      price: 84.5,
    },
    { id: 'of_8Rk1', carrier: 'CP', departs: '09:39', arrives: '19:20', changes: 2, price: 71.9 },
    { id: 'of_9Tz4', carrier: 'Renfe', departs: '12:10', arrives: '21:55', changes: 3, price: 66 },
    {
      id: 'of_3Wd8',
      carrier: 'Alsa',
      departs: '21:30',
      arrives: '06:45',
      changes: 0,
      price: 39.99,
    },
  ],
  answers: {
    seat: { window: true, quiet: true, table: false },
    luggage: 'one large suitcase and a folded bicycle in a bag',
    note: 'I need at least twenty minutes for each change, because of the bicycle, and no stairs if possible.',
  },
  advice:
    'The 09:39 leaves two changes of thirty-one and twenty-six minutes, both on the same platform, and carries ' +
    'bicycles in a bag without a reservation. The 07:05 is quicker, but its second change has eleven minutes and a ' +
    'footbridge with stairs. On the night coach a bicycle needs a box. I would take the 09:39 and keep the night coach as a fallback for strikes, which are announced.',
  charges: [{ id: 'ch_1PxT', cents: 7190, captured: false }],
  attempts: 1,
};

const args = {
  service: 'rail',
  passengers: 1,
  currency: 'EUR',
  policy: { maxPrice: 120, class: 'any' },
};

function sealing(): Candidate {
  const decoder = new TextDecoder();
  const sealer = createSealer({ ring: createKeyRing(generateKey()), audience: 'travel' });
  // Each token has its own saga, because opening a token also derives the key of its saga.
  const sagaIds = Array.from({ length: 4096 }, () => sealer.newSagaId());
  let next = 0;
  const principal = '{"client":"app","issuer":"https://id.example.com","subject":"u-48151"}';
  const engines = { min: 1, max: 1 };
  return {
    name: 'mcp-saga',
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const sagaId = sagaIds[next++ % sagaIds.length] as string;
        const now = Date.now();
        const claims: Claims = {
          method: 'tools/call',
          entry: { target: 'book', argsDigest: await digestArguments(args) },
          saga: { name: 'book', version: '1' },
          principal,
          engine: 1,
          turn: 4,
          // Same ID format as in a host.
          jti: createTokenId(),
          born: now,
          iat: now,
          exp: now + 3_600_000,
        };
        const token = await sealer.seal('token', sagaId, claims, [
          { bytes: JSON.stringify(state), compress: false },
        ]);
        const opened = await sealer.open(token, {
          purpose: 'token',
          methods: ['tools/call'],
          entry: { target: 'book', argsDigest: await digestArguments(args) },
          principal,
          engines,
        });
        JSON.parse(decoder.decode(opened.streams[0]));
      }
    },
  };
}

function bind(ctx: ServerContext): string {
  return `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ''}`;
}

function signing(name: string, bound: boolean): Candidate {
  const codec = createRequestStateCodec({
    key: randomBytes(32),
    ttlSeconds: 3600,
    ...(bound ? { bind } : {}),
  });
  // The fields that `bind` reads.
  const context = {
    mcpReq: { method: 'tools/call' },
    http: { authInfo: { clientId: 'app' } },
  } as unknown as ServerContext;
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        await codec.verify(await codec.mint(state, context), context);
      }
    },
  };
}

function encrypting(): Candidate {
  const key = randomBytes(32);
  return {
    name: 'node:crypto, one static key',
    run: (times) => {
      for (let count = 0; count < times; count += 1) {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce);
        const sealed = [nonce, cipher.update(JSON.stringify(state), 'utf8'), cipher.final()];
        const token = Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url');

        const bytes = Buffer.from(token, 'base64url');
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
        decipher.setAuthTag(bytes.subarray(-16));
        const opened =
          decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
        JSON.parse(opened);
      }
    },
  };
}
