/** Used part of a `Buffer` of Node. */
export interface NodeBytes extends Uint8Array<ArrayBuffer> {
  toString(encoding?: 'base64url' | 'latin1' | 'utf8'): string;
}

/** Used part of the class `Buffer` of Node. */
export interface NodeBuffer {
  from(text: string, encoding: 'base64url' | 'latin1' | 'utf8'): NodeBytes;
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): NodeBytes;
  allocUnsafe(length: number): NodeBytes;
  isBuffer(bytes: Uint8Array): bytes is NodeBytes;
  compare(one: Uint8Array, other: Uint8Array): number;
  concat(parts: readonly Uint8Array[]): NodeBytes;
}

/** Key object of Node. */
export interface NodeKey {
  readonly type: string;
}

interface Digester {
  update(data: Uint8Array): Digester;
  update(text: string, encoding: 'utf8'): Digester;
  digest(): NodeBytes;
  digest(encoding: 'base64url'): string;
}

interface Cipher {
  setAAD(bytes: Uint8Array): void;
  update(bytes: Uint8Array): NodeBytes;
  final(): NodeBytes;
}

type GcmArguments = [
  algorithm: 'aes-256-gcm',
  key: NodeKey | Uint8Array,
  nonce: Uint8Array,
  options: { authTagLength: 16 },
];

/** Used part of `node:crypto`. */
export interface NodeCrypto {
  /** Faster than `createHash`. Missing before Node 20.12. */
  hash?(algorithm: 'sha256', text: string, encoding: 'base64url'): string;
  createHash(algorithm: 'sha256'): Digester;
  createHmac(algorithm: 'sha256', key: NodeKey | Uint8Array): Digester;
  createSecretKey(key: Uint8Array): NodeKey;
  createCipheriv(...options: GcmArguments): Cipher & { getAuthTag(): NodeBytes };
  createDecipheriv(...options: GcmArguments): Cipher & { setAuthTag(tag: Uint8Array): void };
}

/** Used part of `node:zlib`. */
export interface NodeZlib {
  deflateRawSync(
    bytes: Uint8Array,
    options?: { finishFlush: number; dictionary?: Uint8Array },
  ): NodeBytes;
  inflateRawSync(
    bytes: Uint8Array,
    options: { maxOutputLength: number; info: true },
  ): { buffer: NodeBytes; engine: { bytesWritten: number } };
}

/** Used built-in modules of Node. */
export interface NodeBuiltins {
  readonly Buffer: NodeBuffer;
  readonly crypto: NodeCrypto;
  readonly zlib: NodeZlib;
}

/**
 * `true` if a key object of Node pays off for two or three encryptions: from Node 24 on, raw bytes
 * take three times as long.
 */
export function prefersKeyObjects(): boolean {
  if (keyObjects === undefined) {
    const version = readMember(readMember(readMember(globalThis, 'process'), 'versions'), 'node');
    keyObjects = !(typeof version === 'string' && Number.parseInt(version, 10) < 23);
  }
  return keyObjects;
}

let keyObjects: boolean | undefined;

let loaded: NodeBuiltins | false | undefined;

/**
 * Loads the built-in modules for the synchronous path, or `undefined`. Tried once on first use:
 * some runtimes ship stubs.
 */
export function loadNode(): NodeBuiltins | undefined {
  loaded ??= findNode() ?? false;
  return loaded === false ? undefined : loaded;
}

function findNode(): NodeBuiltins | undefined {
  try {
    const builtin = builtinLoader();
    if (builtin === undefined) return undefined;
    const node: Readonly<Record<string, unknown>> = {
      Buffer: readMember(builtin('node:buffer'), 'Buffer'),
      crypto: builtin('node:crypto'),
      zlib: builtin('node:zlib'),
    };
    return isNode(node) && works(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

function builtinLoader(): ((id: string) => unknown) | undefined {
  const process = readMember(globalThis, 'process');
  const load = readMember(process, 'getBuiltinModule');
  return typeof load === 'function' ? (id) => load.call(process, id) : undefined;
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isNode(
  node: Readonly<Record<string, unknown>>,
): node is Readonly<Record<string, unknown>> & NodeBuiltins {
  return node['Buffer'] !== undefined && node['crypto'] !== undefined && node['zlib'] !== undefined;
}

function works({ Buffer, crypto, zlib }: NodeBuiltins): boolean {
  const prk = crypto.createSecretKey(new Uint8Array(32));
  const key = crypto.createSecretKey(
    crypto.createHmac('sha256', prk).update(new Uint8Array(1)).digest(),
  );
  const text = crypto.createHash('sha256').update('saga', 'utf8').digest('base64url');
  const bytes = Buffer.from(text, 'base64url');
  const cipher = crypto.createCipheriv('aes-256-gcm', key, bytes.subarray(0, 12), {
    authTagLength: 16,
  });
  cipher.setAAD(bytes);
  const sealed = cipher.update(zlib.deflateRawSync(bytes));
  cipher.final();
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), {
    authTagLength: 16,
  });
  decipher.setAAD(bytes);
  decipher.setAuthTag(cipher.getAuthTag());
  const opened = decipher.update(sealed);
  decipher.final();
  const inflated = zlib.inflateRawSync(opened, { maxOutputLength: bytes.length, info: true });
  return (
    inflated.buffer.toString('base64url') === text && inflated.engine.bytesWritten === opened.length
  );
}

/**
 * Imports the zlib of Node before 20.12, whose streams know no raw DEFLATE. Rejects on other
 * runtimes.
 */
export async function importZlib(): Promise<NodeZlib> {
  return (await importBuiltin('node:zlib')) as NodeZlib;
}

// Bundlers for other platforms would look for a literal name.
function importBuiltin(id: string): Promise<unknown> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ id);
}
