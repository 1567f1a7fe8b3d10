import { loadNode } from './node.ts';
import type { NodeBuiltins, NodeBytes } from './node.ts';

/** Base64url without padding (RFC 4648, section 5), strict on the way in. */
export interface Base64UrlCodec {
  encode(bytes: Uint8Array): string;
  /** `undefined` unless the text is exactly what `encode` gives for the bytes it decodes to. */
  decode(text: string): Uint8Array | undefined;
  /** Encodes text of code units up to U+00FF, each as one byte. */
  encodeLatin1(text: string): string;
  /** Undoes `encodeLatin1`; for other text the result is unspecified, and encodes to something else again. */
  decodeLatin1(text: string): string;
}

/** The codec over Node's `Buffer`. */
export function createNodeBase64Url({ Buffer }: NodeBuiltins): Base64UrlCodec {
  // What a cipher gives is a Buffer already.
  const toBuffer = (bytes: Uint8Array): NodeBytes =>
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    encode: (bytes) => toBuffer(bytes).toString('base64url'),
    // Buffer skips what it cannot decode and drops trailing bits: only encoding again shows that nothing was lost.
    decode: (text) => {
      const bytes = Buffer.from(text, 'base64url');
      return bytes.toString('base64url') === text ? bytes : undefined;
    },
    encodeLatin1: (text) => Buffer.from(text, 'latin1').toString('base64url'),
    decodeLatin1: (text) => Buffer.from(text, 'base64url').toString('latin1'),
  };
}

/** The codec over the web platform's `btoa` and `atob`. */
export const portableBase64Url: Base64UrlCodec = {
  encode: (bytes) => encodeLatin1(toLatin1(bytes)),
  decode: (text) => {
    const decoded = decodeLatin1(text);
    return encodeLatin1(decoded) === text ? Uint8Array.from(decoded, codeUnit) : undefined;
  },
  encodeLatin1,
  decodeLatin1,
};

/** Bytes as base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return currentCodec().encode(bytes);
}

/**
 * Bytes from base64url without padding, or `undefined` for anything that is not exactly what
 * {@link toBase64Url} writes: padding, white space, another alphabet, bits left over at the end.
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = currentCodec().decode(text);
  // A copy: a small Buffer is a window into a pool shared with the rest of the process.
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
  // In chunks: one call with 64 KiB arguments overflows the stack of some engines.
  let text = '';
  for (let start = 0; start < bytes.length; start += 4096) {
    text += String.fromCharCode(...bytes.subarray(start, start + 4096));
  }
  return text;
}

function codeUnit(character: string): number {
  return character.charCodeAt(0);
}
