import {
  createSagaObject,
  durableObjectStore,
  type DurableObjectNamespaceLike,
} from '@mcp-saga/cloudflare';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { sendInvoice } from './send-invoice.js';

/** Bindings of the Worker. */
interface Env {
  readonly SAGA_KEYS: string;
  readonly SAGAS: DurableObjectNamespaceLike;
}

let server: SagaServer<Env> | undefined;

/** Returns the server of the isolate. Its store rejects reused tokens. */
const serverOf = (env: Env): SagaServer<Env> =>
  (server ??= serveSagas({
    name: 'mcp-saga-project',
    version: '1.0.0',
    sagas: [sendInvoice],
    keys: env.SAGA_KEYS,
    store: durableObjectStore(env.SAGAS),
  }));

export default {
  fetch: (request: Request, env: Env, context: unknown) =>
    serverOf(env).fetch(request, env, context),
};

/** The class of the Durable Objects of `SAGAS`. */
export const Sagas = createSagaObject();
