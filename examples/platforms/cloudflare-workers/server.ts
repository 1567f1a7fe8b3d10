import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';
import { accessAuth, principal } from './access.ts';

/** The bindings: `vars` of wrangler.jsonc, and the secret. */
interface Env {
  readonly SAGA_KEYS: string;
  readonly ACCESS_TEAM: string;
  readonly ACCESS_AUD: string;
  readonly WAREHOUSE: string;
}

// One host an isolate: the keys are read with its first request. `env` reaches the steps as `context`.
export default serveSagas<Env>({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: (env) => env.SAGA_KEYS,
  auth: { authenticate: (request, env) => accessAuth(request, env), principal },
});
