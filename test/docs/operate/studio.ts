import { generateKey, saga, step, type Program } from '@mcp-saga/server';

const keys = generateKey();
const operator = { username: 'operator', password: 'secret' };

/** Saga of the example. */
export const order: Program = saga({ name: 'order', version: '1' }, function* () {
  return yield* step('order', () => 'ordered');
});

// #region studio
import { serveSagas } from '@mcp-saga/server/serve';
import { Hono } from 'hono';
import { basicAuth } from 'hono/basic-auth';
import { createStudio } from 'mcp-saga/studio';

const sagas = serveSagas({
  name: 'shop',
  version: '1.0.0',
  sagas: [order],
  keys,
  studio: createStudio(),
});

export const app: Hono = new Hono()
  .use('/ops/*', basicAuth(operator))
  .all('/ops/studio/*', ({ req }) => sagas.studio(req.raw))
  .all('/mcp', ({ req }) => sagas.fetch(req.raw));
// #endregion studio
