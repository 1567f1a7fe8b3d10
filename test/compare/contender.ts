import type { RequestListener } from 'node:http';
import type { Fetch } from '../interop/support/http-server.ts';
import type { Refunds } from './provider.ts';

/** Imports a package from the folder of a contender. */
export type Load = (name: string) => Promise<unknown>;

/** What a process of a contender has. The database and the keys outlive the process. */
export interface World {
  readonly provider: Refunds;
  /** Path of a SQLite file. */
  readonly database: string;
  /** Value of SAGA_KEYS. */
  readonly keys: string;
  readonly load: Load;
}

/** Answers requests of MCP over HTTP. */
export type Served = { readonly fetch: Fetch } | { readonly listener: RequestListener };

/** The refund tool, written with one library in one way. */
export interface Contender {
  readonly name: string;
  /** What the author wrote for calls that come twice, beside the tool itself. */
  readonly authorWrote: string;
  /** Packages from npm that `load` finds. Default: none, since the workspace has them. */
  readonly packages?: readonly string[];
  /** `true` if the client sends a key with its call, and sends it again with the same key. */
  readonly hasKey: boolean;
  /** `true` if the first request refunds nothing, and the client comes back. Default: `false`. */
  readonly refundsLater?: boolean;
  /**
   * Which response is lost: the first one, or the first one after the refund. They differ only with
   * `refundsLater`. Default: the first one.
   */
  readonly loses?: 'first' | 'afterRefund';
  /** Opens the only tool of a new server. */
  readonly open: (world: World) => Promise<Served>;
}

/** Arguments of the tool. */
export interface Order {
  readonly order: string;
  readonly euros: number;
}

/** Field of `_meta` in which the client names its call. */
export const keyField = 'io.github.mcp-saga/idempotencyKey';

/** The key of a call, from the `_meta` of its request. */
export function keyOf(
  request: { readonly _meta?: { readonly [name: string]: unknown } } | undefined,
): string | undefined {
  const key = request?.['_meta']?.[keyField];
  return typeof key === 'string' ? key : undefined;
}

/** What the tool says of a refund. */
export const toText = ({ order, euros }: Order, id: string): string =>
  `Refunded ${euros} EUR for ${order}: ${id}`;
