// #region durable-objects
import {
  alarmQueue,
  createSagaObject,
  durableObjectStore,
  type DurableObjectNamespaceLike,
} from '@mcp-saga/cloudflare';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { buy } from './undo.ts';

/** The bindings of the Worker: a secret, and Durable Objects. */
interface Env {
  readonly SAGA_KEYS: string;
  readonly SAGAS: DurableObjectNamespaceLike;
}

let server: SagaServer<Env> | undefined;

const serverOf = (env: Env): SagaServer<Env> =>
  (server ??= serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [buy],
    keys: env.SAGA_KEYS,
    store: durableObjectStore(env.SAGAS),
    queue: alarmQueue(env.SAGAS),
  }));

export default {
  fetch: (request: Request, env: Env, context: unknown) =>
    serverOf(env).fetch(request, env, context),
};

// #region queue
/** The class of the Durable Objects of `SAGAS`. */
export const Sagas = createSagaObject<Env>({
  deliver: (message, env) => serverOf(env).deliver(message, env),
});
// #endregion queue
// #endregion durable-objects
