/**
 * Prints the bytes of each part of a token, for the log of measurements:
 * `npx tsx test/bench/token-parts.ts`.
 */
import { createDecipheriv } from 'node:crypto';
import { defaultLimits, deriveTokenKey, fromBase64Url } from '@mcp-saga/seal';
import { unpack } from '../../packages/seal/src/token/layout.ts';
import { audience, emptyTokens, textTokens, type MeasuredTokens } from './rows/token-bytes.ts';

const parts = ['claims', 'secret and head', 'structure', 'answers', 'layout and padding'] as const;

for (const [name, measured] of [
  ['empty token', await emptyTokens()],
  ['text corpus', await textTokens()],
] as const) {
  const { characters, header, stored, raw } = await measure(measured);
  const count = measured.tokens.length;
  console.log(
    `${name}: ${count} tokens of ${characters} characters, headers ${header}, nonce and tag ${42 * count}`,
  );
  for (const [index, part] of parts.entries()) {
    const bytes = stored[index] ?? 0;
    const share = Math.round((400 / 3) * (bytes / characters));
    console.log(
      `  ${part}: raw ${raw[index]}, stored ${bytes}, base64url ${Math.ceil((bytes * 4) / 3)}, ${share} %`,
    );
  }
}

interface Measured {
  readonly characters: number;
  /** Number of characters in all headers. */
  readonly header: number;
  /** Stored size of each part, in bytes. */
  readonly stored: readonly number[];
  /** Size of each part before compression, in bytes. */
  readonly raw: readonly number[];
}

async function measure({ key, tokens }: MeasuredTokens): Promise<Measured> {
  const stored = parts.map(() => 0);
  const raw = parts.map(() => 0);
  let header = 0;
  let characters = 0;
  for (const token of tokens) {
    const plaintext = await decrypt(key, token);
    const { claims, streams } = unpack(plaintext, defaultLimits);
    const [own, structure, client] = streams;
    const sizes = [claims.length, own?.bytes.length, structure?.bytes.length, client?.bytes.length];
    const inflated = [claims.length, own?.inflated, structure?.inflated, client?.inflated];
    const rest = sizes.reduce<number>((left, size = 0) => left - size, plaintext.length);
    for (const index of parts.keys()) {
      stored[index] = (stored[index] ?? 0) + (index < 4 ? (sizes[index] ?? 0) : rest);
      raw[index] = (raw[index] ?? 0) + (index < 4 ? (inflated[index] ?? 0) : rest);
    }
    header += token.indexOf('.');
    characters += token.length;
  }
  return { characters, header, stored, raw };
}

async function decrypt(key: string, token: string): Promise<Uint8Array> {
  const [kid = '', secret = ''] = key.split(':');
  const [header = '', , nonce, text, tag] = token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url'));
  const { sid } = JSON.parse(String(header)) as { readonly sid: string };
  const binding = { purpose: 'token', audience, kid, sid } as const;
  const derived = await deriveTokenKey(fromBase64Url(secret) ?? new Uint8Array(), binding);
  const decipher = createDecipheriv('aes-256-gcm', derived, nonce ?? '', { authTagLength: 16 });
  decipher.setAAD(Buffer.from(token.slice(0, token.indexOf('.'))));
  decipher.setAuthTag(tag ?? Buffer.alloc(0));
  return Buffer.concat([decipher.update(text ?? Buffer.alloc(0)), decipher.final()]);
}
