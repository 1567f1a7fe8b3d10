/**
 * What differs between runtimes: base64url, and the modules of Node, which are loaded only where
 * they exist. With or without them, the same input gives the same text.
 */
import { loadNode } from './node.ts';
import type { NodeBuiltins, NodeBytes } from './node.ts';

/** Base64url without padding (RFC 4648, section 5), with a strict decoder. */
export interface Base64UrlCodec {
  encode(bytes: Uint8Array): string;
  /** Returns undefined unless `encode` gives the same text for the bytes. */
  decode(text: string): Uint8Array | undefined;
  /** Encodes code units up to U+00FF, each as one byte. */
  encodeLatin1(text: string): string;
  /** Decodes a text of `encodeLatin1`. Unspecified for other text. */
  decodeLatin1(text: string): string;
}

/** Codec with `Buffer` of Node. */
export function createNodeBase64Url({ Buffer }: NodeBuiltins): Base64UrlCodec {
  // A cipher returns a Buffer.
  const toBuffer = (bytes: Uint8Array): NodeBytes =>
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    encode: (bytes) => toBuffer(bytes).toString('base64url'),
    // Buffer skips bad characters and trailing bits without an error.
    decode: (text) => {
      const bytes = Buffer.from(text, 'base64url');
      return bytes.toString('base64url') === text ? bytes : undefined;
    },
    encodeLatin1: (text) => Buffer.from(text, 'latin1').toString('base64url'),
    decodeLatin1: (text) => Buffer.from(text, 'base64url').toString('latin1'),
  };
}

/** Codec with `btoa` and `atob` of the web platform. */
export const portableBase64Url: Base64UrlCodec = {
  encode: (bytes) => encodeLatin1(toLatin1(bytes)),
  decode: (text) => {
    const decoded = decodeLatin1(text);
    return encodeLatin1(decoded) === text
      ? Uint8Array.from(decoded, (unit) => unit.charCodeAt(0))
      : undefined;
  },
  encodeLatin1,
  decodeLatin1,
};

/**
 * Encodes bytes in base64url without padding.
 * @example
 * ```ts
 * const bytes = new Uint8Array([251, 255]);
 * const text = toBase64Url(bytes);
 * console.log(text === '-_8');
 * ```
 */
export function toBase64Url(bytes: Uint8Array): string {
  return currentCodec().encode(bytes);
}

/**
 * Decodes base64url without padding. Returns undefined unless {@link toBase64Url} gives the same
 * text for the bytes.
 * @example
 * ```ts
 * const bytes = fromBase64Url('-_8');
 * if (bytes === undefined) throw new Error('Not base64url');
 * console.log(bytes.length === 2);
 * ```
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = currentCodec().decode(text);
  // Copied: a small Buffer is part of a pool of the process.
  return bytes === undefined ? undefined : new Uint8Array(bytes);
}

let current: Base64UrlCodec | undefined;

function currentCodec(): Base64UrlCodec {
  const node = loadNode();
  return (current ??= node === undefined ? portableBase64Url : createNodeBase64Url(node));
}

function encodeLatin1(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function decodeLatin1(text: string): string {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return '';
  }
}

function toLatin1(bytes: Uint8Array): string {
  // In chunks: 64 KiB of arguments overflow the stack of some engines.
  let text = '';
  for (let start = 0; start < bytes.length; start += 4096) {
    text += String.fromCharCode(...bytes.subarray(start, start + 4096));
  }
  return text;
}
