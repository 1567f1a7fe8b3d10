import { resolve, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlayedModule } from './dev-playground.ts';
import { serveModule, type DevWorld, type ServedModule } from './serve-module.ts';
import { messageOf } from './turn-log.ts';
import { watch, type FSWatcher } from 'node:fs';

/** Module whose newest working code is served. */
type LiveModule = {
  readonly current: () => ServedModule & PlayedModule;
  readonly close: () => void;
};

/**
 * Serves a module, and loads the module again after a change of an imported file. Throws the error
 * of the first import.
 */
export async function liveModule(file: string, world: DevWorld): Promise<LiveModule> {
  const { say, studio } = world;
  let current!: ServedModule & PlayedModule;
  const load = async (): Promise<void> => {
    const imported = new Set<string>();
    const onImport = (url: string): void => {
      if (!url.startsWith('file:') || url.includes('/node_modules/')) return;
      const path = fileURLToPath(url);
      files.add(path);
      imported.add(path);
    };
    current = { ...(await serveModule(file, onImport, world)), files: imported };
  };
  let loading = Promise.resolve();
  const files = watchFiles(() => {
    loading = loading.then(load).then(
      () => {
        const sagas = current.programs.map(({ name }) => name);
        studio.changed();
        say({ type: 'reloaded', sagas }, `reloaded: ${sagas.join(', ')}`);
      },
      (error: unknown) => {
        const message = messageOf(error);
        const text = `the new code fails, so the old code keeps serving: ${message}`;
        studio.changed(text);
        say({ type: 'reload_failed', message }, text);
      },
    );
  });
  loading = load();
  await loading.catch((error: unknown) => {
    files.close();
    throw error;
  });
  files.add(resolve(file));
  return { current: () => current, close: () => files.close() };
}

/** Watches files by their folders, since many editors replace a file on save. */
function watchFiles(
  onChange: () => void,
): Readonly<{ add: (file: string) => void; close: () => void }> {
  const files = new Set<string>();
  const folders = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const add = (file: string): void => {
    files.add(file);
    const folder = dirname(file);
    if (folders.has(folder)) return;
    const watcher = watch(folder, (_, name) => {
      if (name !== null && !files.has(join(folder, name))) return;
      clearTimeout(timer);
      timer = setTimeout(onChange, 50); // editors save in several steps
    });
    folders.set(folder, watcher);
  };
  const close = (): void => {
    clearTimeout(timer);
    for (const watcher of folders.values()) watcher.close();
  };
  return { add, close };
}
