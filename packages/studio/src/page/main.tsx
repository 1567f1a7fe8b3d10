import { first } from '#examples/first.js';
// oxlint-disable-next-line import/default -- Vite makes the URL
import engineUrl from '../engine/worker.ts?worker&url';
import { startWorker } from '../parts/engine-client.ts';
import { startPage } from './app.tsx';

startPage({
  examples: [first],
  startWorker: () => startWorker(engineUrl),
  loadCompiler: () => import('#examples/others.js'),
});
