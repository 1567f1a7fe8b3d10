import { createSagaObject, durableObjectStore } from '@mcp-saga/cloudflare';
import { serveSagas } from '@mcp-saga/server/serve';
import { sendInvoice } from './send-invoice.js';

let server;

/** Returns the server of the isolate. Its store rejects reused tokens. */
const serverOf = (env) =>
  (server ??= serveSagas({
    name: 'mcp-saga-project',
    version: '1.0.0',
    sagas: [sendInvoice],
    keys: env.SAGA_KEYS,
    store: durableObjectStore(env.SAGAS),
  }));

export default {
  fetch: (request, env, context) => serverOf(env).fetch(request, env, context),
};

/** The class of the Durable Objects of `SAGAS`. */
export const Sagas = createSagaObject();
