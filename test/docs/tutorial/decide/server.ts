import { redisStore } from '@mcp-saga/redis';
import { memoryStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { createClient } from 'redis';
import { serve } from 'srvx';
import { refund } from './refund.ts';

/** Creates the store. A memoryStore() forgets with its process, which is enough to try the tool. */
async function createStore() {
  const url = process.env['REDIS_URL'];
  if (url === undefined) return memoryStore();
  const client = createClient({ url, disableOfflineQueue: true });
  client.on('error', (error) => console.error(error.message));
  return redisStore(await client.connect());
}

const sagas = serveSagas({
  name: 'refunds',
  version: '1.0.0',
  sagas: [refund],
  store: await createStore(),
  hooks: {
    onSettled: ({ sagaId, uncompensated }) => {
      if (uncompensated.length > 0) console.error('Undo by hand', sagaId, uncompensated);
    },
  },
});

serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' }); // on PORT, or 3000
