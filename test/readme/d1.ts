// #region d1
import { serveSagas } from '@mcp-saga/server/serve';
import { sqliteStore, type D1Like } from '@mcp-saga/sql';
import { buy } from './undo.ts';

/** The bindings of the Worker: a secret, and a database of D1. */
interface Env {
  readonly SAGA_KEYS: string;
  readonly DB: D1Like;
}

const serverOf = ({ SAGA_KEYS, DB }: Env) =>
  serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [buy],
    keys: SAGA_KEYS,
    store: sqliteStore(DB),
  });

let server: ReturnType<typeof serverOf> | undefined;

export default {
  fetch: (request: Request, env: Env) => (server ??= serverOf(env)).fetch(request),
};
// #endregion d1
