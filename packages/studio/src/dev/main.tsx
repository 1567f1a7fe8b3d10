import type { Sources } from '../model/session.ts';
import { startPage } from '../page/app.tsx';
import { loadSources } from '../parts/load-sources.ts';
import { RemoteEngine } from './remote-engine.ts';

let sources = (await loadSources()) as Sources;
const store = startPage({
  examples: sources.examples,
  engine: Promise.resolve({ default: RemoteEngine }),
});
store.failure.value = sources.problem;

for (;;) {
  await new Promise((resolve) => void setTimeout(resolve, 500));
  const loaded = document.hidden ? sources : await loadSources(sources).catch(() => sources);
  if (loaded === sources || loaded === undefined) continue;
  store.failure.value = loaded.problem;
  if (loaded.version !== sources.version) store.reload(loaded.examples);
  sources = loaded;
}
