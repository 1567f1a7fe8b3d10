import {
  createSagaObject,
  durableObjectStore,
  type DurableObjectNamespaceLike,
} from '@mcp-saga/cloudflare';
import { order } from '@mcp-saga/example-order/saga';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { accessAuth, principal } from './access.ts';

/** The bindings of wrangler.jsonc: Durable Objects, `vars`, and the secret. */
interface Env {
  readonly SAGAS: DurableObjectNamespaceLike;
  readonly SAGA_KEYS: string;
  readonly ACCESS_TEAM: string;
  readonly ACCESS_AUD: string;
  readonly WAREHOUSE: string;
}

let server: SagaServer<Env> | undefined;

/** Returns the server of the isolate. Steps receive `env` as `services`. */
const serverOf = (env: Env): SagaServer<Env> =>
  (server ??= serveSagas({
    name: 'orders',
    version: '1.0.0',
    sagas: [order],
    keys: env.SAGA_KEYS,
    services: (bindings) => bindings,
    store: durableObjectStore(env.SAGAS),
    auth: { authenticate: (request) => accessAuth(request, env), principal },
  }));

export default {
  fetch: (request: Request, env: Env, context: unknown) =>
    serverOf(env).fetch(request, env, context),
};

/** The class of the Durable Objects of `SAGAS`. */
export const Sagas = createSagaObject();
