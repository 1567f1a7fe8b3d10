import { first } from '#examples/first.js';
import { startPage } from './app.tsx';

startPage({
  examples: [first],
  engine: import('../engine/worker.ts?worker&inline'),
  loadCompiler: async () =>
    (
      await Promise.all([
        import('#examples/others.js'),
        import('../parts/drawing.tsx').catch(String),
      ])
    )[0],
});
