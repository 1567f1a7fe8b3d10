import type { z as Zod } from 'zod';
import { z } from 'zod';
import type { Fetch } from '../../interop/support/http-server.ts';
import type { Load, Order } from '../contender.ts';
import type { Refunds } from '../provider.ts';

/** Stops a parcel, so that nobody ships what is refunded. */
export interface Warehouse {
  hold(order: string): Promise<void>;
  release(order: string): Promise<void>;
}

/** What an instance of a server has. */
export interface World {
  readonly bank: Refunds;
  readonly warehouse: Warehouse;
  /** Outlives an instance: keys, and the databases of a library by name. */
  readonly kept: Map<string, unknown>;
  /** Resolves when the instance is killed. */
  readonly death: Promise<void>;
  readonly load: Load;
}

/**
 * The tool: it holds the parcel, asks the user, and refunds the money. If the user declines, it
 * releases the parcel.
 */
export interface Contender {
  readonly name: string;
  /** Packages from npm that `load` finds. */
  readonly packages: readonly string[];
  /** Opens a new instance of the server. The header `authorization` names the user. */
  readonly open: (world: World) => Promise<Served>;
}

/** An open instance. */
export interface Served {
  readonly fetch: Fetch;
  /** Stops what the library started in this process. */
  readonly close?: () => Promise<void>;
}

export const input: Zod.ZodType<Order> = z.object({ order: z.string(), euros: z.number() });
export const key = 'a secret of at least 32 characters!';
