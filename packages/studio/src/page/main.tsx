// oxlint-disable-next-line import/default -- Vite makes the URL
import engineUrl from '../engine/worker.ts?worker&url';
import type { Example } from '../model/session.ts';
import { startWorker } from '../parts/engine-client.ts';
import { startPage } from './app.tsx';

declare const EXAMPLES: readonly Example[];

startPage({
  examples: EXAMPLES,
  startWorker: () => startWorker(engineUrl),
  loadCompiler: () => import('../engine/compile.ts'),
});
