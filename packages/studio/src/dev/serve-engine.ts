import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { TestSaga } from '@mcp-saga/testing';
import { isScript, loadSagas, type LoadedSagas } from 'mcp-saga/internal';
import type * as XState from 'xstate';
import { watchMachines } from '../engine/machines.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { machines, playgroundOf, unnamed, type Playground } from '../engine/playground.ts';
import type { LastReply, Reply, Request } from '../model/messages.ts';
import type { LoadedCode } from '../model/session.ts';

/** Request of a page. The replies go to the port, each as a line. */
interface Asked {
  readonly request: Request;
  /** Source of an older version, which is no longer on the disk. */
  readonly old: readonly Readonly<Record<'path' | 'text', string>>[] | undefined;
  readonly port: MessagePort;
}

/** Paths of the file, of the folder of its package, and of a folder for copies. */
const { file, folder, copies } = workerData as Readonly<
  Record<'file' | 'folder' | 'copies', string>
>;

/** Makes an engine for the newest version, or first for an older one. */
function engineFor(old: Asked['old']): Engine {
  return createEngine(async (...versions) => {
    const playgrounds: Playground[] = [];
    for (const [index, code] of (versions as readonly LoadedCode[]).entries()) {
      const isOld = index === 0 && old !== undefined;
      const loaded = await loadSagas(isOld ? await copyFiles(old) : file);
      // Without XState, or with a version before 5, the file has no machines.
      const xstate = loaded.importFor<typeof XState>('xstate');
      await xstate
        .then(({ Actor }) => (machines.trace = watchMachines(Actor)))
        .catch(() => undefined);
      playgrounds.push(toPlayground(loaded, code));
    }
    return playgrounds;
  }, 'refuse');
}

/** Copies the files, and the package.json, if any. Returns the path of the copied module. */
async function copyFiles(sources: NonNullable<Asked['old']>): Promise<string> {
  if (sources.length === 0)
    throw new Error('That version is not loaded any more. Run the next version.');
  const copy = join(copies, randomUUID());
  const inCopy = (path: string): string => join(copy, relative(folder, path));
  for (const { path, text } of sources) {
    await mkdir(dirname(inCopy(path)), { recursive: true });
    await writeFile(inCopy(path), text);
  }
  await copyFile(join(folder, 'package.json'), join(copy, 'package.json')).catch(() => undefined);
  return inCopy(file);
}

function toPlayground(
  { loaded, exported, sagas }: LoadedSagas,
  { name, input }: LoadedCode,
): Playground {
  const found = loaded[name];
  if (isScript(found)) {
    const script = new TestSaga(found.saga, found.options, found.rules);
    return playgroundOf(script, loaded, { file: basename(file), name, isScript: true });
  }
  const saga = sagas.find((each) => each.name === name);
  if (saga === undefined)
    throw new Error('The saga or script is no longer in the file. Choose another saga.');
  const script = new TestSaga(saga, { input: JSON.parse(input ?? '{}') as object }, []);
  const [variable = unnamed] =
    [...exported].find(([key, value]) => value === saga && key !== 'default') ?? [];
  return playgroundOf(script, loaded, { file: basename(file), name: variable, isScript: false });
}

/** Ends the thread five minutes after its last reply. */
const idle = setTimeout(() => process.exit(), 300_000);
/** By the source of the older version. */
const engines = new Map<string, Engine>();

parentPort?.on('message', ({ request, old, port }: Asked) => {
  const key = JSON.stringify(old) ?? '';
  const engine = engines.get(key) ?? engineFor(old);
  engines.set(key, engine);
  const reply = (message: Reply | LastReply): void => {
    idle.refresh();
    port.postMessage(JSON.stringify(message));
  };
  reply({ type: 'started' });
  void engine(request, reply)
    .then((result) => reply({ type: 'done', result }))
    .catch((error: unknown) => reply({ type: 'failed', message: String(error) }))
    .finally(() => port.close());
});
