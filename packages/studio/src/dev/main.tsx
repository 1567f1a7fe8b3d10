import type { Example } from '../model/session.ts';
import { startPage } from '../page/app.tsx';
import { RemoteEngine } from './remote-engine.ts';

const pollMs = 500;

/** Loads the sagas and scripts of the served code; undefined without a change. */
async function load(after?: number): Promise<Sources | undefined> {
  const response = await fetch(`sources${after === undefined ? '' : `?after=${after}`}`);
  return response.status === 200 ? ((await response.json()) as Sources) : undefined;
}

type Sources = { readonly version: number; readonly examples: readonly Example[] };

let sources = (await load()) as Sources;
const store = startPage({ examples: sources.examples, startWorker: () => new RemoteEngine() });

for (;;) {
  await new Promise((resolve) => {
    setTimeout(resolve, pollMs);
  });
  const changed = document.hidden ? undefined : await load(sources.version).catch(() => undefined);
  if (changed !== undefined) store.reload((sources = changed).examples);
}
