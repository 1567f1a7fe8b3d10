import { hasLoneSurrogate } from '../digest/canonicalize.ts';
import { TokenRefused } from '../model/errors.ts';
import { fromBase64Url, toBase64Url } from '../platform/base64url.ts';

// Numbers: seven bits a byte, the lowest first, and the high bit set in each byte but the last. At
// most 2^53 - 1. Texts: a number, four times the length in bytes plus the form of the text, and the
// bytes.
const form = { utf8: 0, base64url: 1, utf16: 2, none: 3 } as const;

/** Bytes of the IDs and digests that are written without base64url. */
const rawLengths: readonly number[] = [16, 32];

/** Writes numbers, texts, and bytes one after the other. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  /** Writes a whole number up to 2^53 - 1. */
  number(value: number): this {
    this.#reserve(8);
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128))
      this.#bytes[this.#length++] = (rest % 128) + 128;
    this.#bytes[this.#length++] = rest;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** Writes a text, or `null`. */
  text(text: string | null): this {
    if (text === null) return this.number(form.none);
    // 16 and 32 bytes in base64url.
    const raw = text.length === 22 || text.length === 43 ? fromBase64Url(text) : undefined;
    if (raw !== undefined) return this.#field(form.base64url, raw);
    const start = this.#length;
    this.number(text.length * 4 + form.utf8).#reserve(text.length);
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 127) {
        this.#length = start;
        return this.#wideText(text);
      }
      this.#bytes[this.#length++] = unit;
    }
    return this;
  }

  /** Returns the written bytes. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #wideText(text: string): this {
    // UTF-8 has no lone surrogates, and two principals must not become one.
    if (!hasLoneSurrogate(text)) return this.#field(form.utf8, new TextEncoder().encode(text));
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    return this.#field(
      form.utf16,
      Uint8Array.from(units.flatMap((unit) => [unit >> 8, unit & 255])),
    );
  }

  #field(of: number, bytes: Uint8Array): this {
    return this.number(bytes.length * 4 + of).bytes(bytes);
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#length + length));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/**
 * Reads what {@link ByteWriter} wrote. Every method throws TokenRefused `malformed` for other
 * bytes.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Number of bytes read so far. */
  get offset(): number {
    return this.#offset;
  }

  /** `true` if no byte is left. */
  get isAtEnd(): boolean {
    return this.#offset === this.#bytes.length;
  }

  number(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count += 1) {
      const byte = this.#bytes[this.#offset++];
      // A number has one form only.
      if (byte === undefined || (byte === 0 && count > 0)) break;
      value += (byte % 128) * scale;
      if (byte < 128 && Number.isSafeInteger(value)) return value;
      if (byte < 128) break;
      scale *= 128;
    }
    throw new TokenRefused('malformed');
  }

  /** Returns a view. */
  bytes(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#offset) throw new TokenRefused('malformed');
    this.#offset += length;
    return this.#bytes.subarray(this.#offset - length, this.#offset);
  }

  text(): string {
    const text = this.textOrNull();
    if (text === null) throw new TokenRefused('malformed');
    return text;
  }

  textOrNull(): string | null {
    const field = this.number();
    const of = field % 4;
    const bytes = this.bytes((field - of) / 4);
    const text = decodeText(of, bytes);
    if (text === undefined) throw new TokenRefused('malformed');
    return text;
  }
}

function decodeText(of: number, bytes: Uint8Array): string | null | undefined {
  if (of === form.none) return bytes.length === 0 ? null : undefined;
  if (of === form.base64url)
    return rawLengths.includes(bytes.length) ? toBase64Url(bytes) : undefined;
  if (of === form.utf16) return decodeUtf16(bytes);
  let text = '';
  for (const byte of bytes) {
    if (byte > 127) return decodeUtf8(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeUtf16(bytes: Uint8Array): string | undefined {
  let text = '';
  for (let index = 0; index < bytes.length; index += 2) {
    text += String.fromCharCode((bytes[index] ?? 0) * 256 + (bytes[index + 1] ?? 0));
  }
  return bytes.length % 2 === 0 && hasLoneSurrogate(text) ? text : undefined;
}
