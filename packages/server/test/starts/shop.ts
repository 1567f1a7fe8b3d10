import { elicit, memoryStore, saga, step, type Program } from '@mcp-saga/server';
import { serveSagas, type SagaServer, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { z } from 'zod';
import { post, read, type Era, type RawAnswer } from '../fixtures/raw.ts';
import { askingModels } from '../../../../test/support/asking-models.ts';

/** Field of `_meta` in which a client names its call. */
export const keyField = 'io.github.mcp-saga/idempotencyKey';

export interface Order {
  readonly order: Program;
  /** What the saga did: the idempotency key of each charge, and `undo`. */
  readonly acted: readonly string[];
}

export interface OrderOptions {
  readonly reuse?: 'ok';
  /** IDs of its questions. */
  readonly asks?: readonly string[];
  readonly fails?: boolean;
  /** Time that each question waits, in milliseconds. Default: as long as its token is good. */
  readonly timeout?: number;
  readonly task?: 'prefer';
}

/** A saga that charges, and then fails or asks. */
export function ordering(options: OrderOptions = {}): Order {
  const { reuse, asks = ['size'], fails = false, timeout, task } = options;
  const acted: string[] = [];
  const definition = { name: 'order', version: '1', reuse, ...(task && { task }) } as const;
  const order = saga(definition, function* () {
    yield* step('charge', ({ idempotencyKey }) => void acted.push(idempotencyKey), {
      compensate: () => void acted.push('undo'),
    });
    if (fails) throw new Error('Out of stock.');
    for (const id of asks)
      yield* elicit(id, {
        message: `${id}?`,
        schema: z.object({ size: z.string() }),
        ...(timeout && { timeout: timeout }),
      });
    return 'done';
  });
  return { order, acted };
}

/** A server of a saga, with a store. The header `x-user` is the user; without it, the caller is anonymous. */
export function shopOf({ order }: Pick<Order, 'order'>, changes: Partial<ServeSagasOptions> = {}) {
  return serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: askingModels([order]),
    keys: 'ephemeral',
    store: memoryStore(),
    answerers: { model: 'accept' },
    hooks: { onWarning: () => undefined },
    // Changes of `auth` say who may call.
    ...(changes.auth === undefined && { anonymous: { calls: 'accept' } }),
    auth: {
      authenticate: ({ headers }) => {
        const subject = headers.get('x-user');
        return subject === null
          ? undefined
          : { issuer: 'https://id.example', subject, client: 'app' };
      },
    },
    http: { allowedHosts: ['localhost'] },
    ...changes,
  });
}

export const ada = { 'x-user': 'ada' };

/** How a client calls `order`. */
export interface ShopCall {
  /** Default: modern. */
  readonly era?: Era;
  /** Default: `tools/call`. */
  readonly method?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Default: those of ada. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a modern client declares. Default: elicitation and sampling. */
  readonly capabilities?: object;
  /** Further params, such as `requestState`. */
  readonly more?: object;
}

/** Calls `order` by raw JSON-RPC. */
export async function callShop(server: SagaServer, call: ShopCall = {}): Promise<RawAnswer> {
  const { era = 'modern', method = 'tools/call', meta, headers = ada, more } = call;
  const { capabilities } = call;
  const declared = capabilities && { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const all = { ...declared, ...meta };
  const sent = Object.keys(all).length === 0 ? {} : { _meta: all };
  const params = { name: 'order', arguments: {}, ...more, ...sent };
  const named = method === 'tools/call' && era === 'modern' ? { 'mcp-name': 'order' } : {};
  const init = { headers: { ...named, ...headers } };
  return await read(await server.fetch(post(era, method, params, 1, init)));
}
