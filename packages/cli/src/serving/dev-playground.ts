import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { inspect } from 'node:util';
import { MessageChannel, Worker } from 'node:worker_threads';
import { toJsonSchema } from '@mcp-saga/core/program';
import type { Program } from '@mcp-saga/server';
import { formOf, simplestContent } from '@mcp-saga/testing/internal';
import { ownFile } from '../input/own-package.ts';

/** Module whose sagas and scripts a page can run. */
export interface PlayedModule {
  readonly programs: readonly Program[];
  /** Names of exported scripts of the test kit. */
  readonly scripts: readonly string[];
  /** Absolute paths of the module, and of what it imports. */
  readonly files: ReadonlySet<string>;
}

/**
 * Playground of `mcp-saga dev`: the source of the served code, and engines in threads that run the
 * code for a page.
 */
export class DevPlayground {
  readonly #engines = new Map<string, Worker>();
  /** Folder for copies of older versions, which find the same packages there. */
  readonly #copies = join('node_modules/.cache/mcp-saga', randomUUID());
  #folder = '';
  #asks = 0;
  /** Source of each version that a page has loaded, by path. */
  readonly #versions: Record<number, readonly Readonly<Record<'path' | 'text', string>>[]> = {};

  /** Lists the sagas and scripts of a module, with the source of their package. */
  async sources(module: PlayedModule, version: number, problem?: string): Promise<Response> {
    const { files, scripts, programs } = module;
    const folder = dirname([...files][0] ?? '');
    const own = [...files].filter((path) => path.startsWith((packageOf(folder) ?? folder) + sep));
    const sources = (this.#versions[version] ??= await Promise.all(
      own.map(async (path) => ({ path, text: await readFile(path, 'utf8') })),
    ));
    const texts = sources.map(({ path, text }) => ({ name: relative(folder, path), text }));
    const codeOf = (name: string): object => ({ name, files: texts, compiled: { name, version } });
    const examples = [
      ...scripts.map((name) => ({ ...codeOf(name), title: `${name} (script)` })),
      ...programs.map((saga) => ({
        ...codeOf(saga.name),
        title: saga.name,
        input: simplestInput(saga),
      })),
    ];
    return Response.json({ version, examples, problem });
  }

  /**
   * Sends a request of a page to its engine. Each line of the response is a message. A page that
   * leaves ends its engine.
   */
  async ask(request: Request, { files }: PlayedModule, version: number): Promise<Response> {
    const [file = ''] = files;
    const id = new URL(request.url).searchParams.get('id') ?? '';
    const asked = (await request.json()) as { readonly code?: { readonly version?: number } };
    const { version: wanted = version } = asked.code ?? {};
    const old = wanted === version ? undefined : (this.#versions[wanted] ?? []);
    // Each run keeps its modules in memory, so other threads take over. The old ones end when they
    // are idle.
    if (++this.#asks % 100 === 0) this.#engines.clear();
    const worker = this.#engines.get(id) ?? this.#start(id, file);
    const { port1, port2 } = new MessageChannel();
    const lines = new PassThrough();
    port1.on('message', (line: string) => lines.write(`${line}\n`));
    port1.once('close', () => lines.end());
    lines.once('close', () => {
      // The page has left.
      if (!lines.writableFinished) void worker.terminate();
    });
    worker.postMessage({ request: asked, old, port: port2 }, [port2]);
    return new Response(Readable.toWeb(lines) as ReadableStream, {
      headers: { 'content-type': 'application/x-ndjson' },
    });
  }

  /** Ends all engines, and removes the copies. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map((worker) => worker.terminate()));
    await rm(join(this.#folder, this.#copies), { recursive: true, force: true });
  }

  #start(id: string, file: string): Worker {
    this.#folder = packageOf(dirname(file)) ?? dirname(file);
    const workerData = { file, folder: this.#folder, copies: join(this.#folder, this.#copies) };
    const worker = new Worker(ownFile('page/engine.js'), { workerData });
    this.#engines.set(id, worker);
    worker.once('exit', () => this.#engines.get(id) === worker && this.#engines.delete(id));
    worker.on('error', (error: unknown) => process.stderr.write(`${inspect(error)}\n`));
    worker.unref();
    return worker;
  }
}

/** Returns the folder of the nearest package.json. */
function packageOf(folder: string): string | undefined {
  if (existsSync(join(folder, 'package.json'))) return folder;
  return dirname(folder) === folder ? undefined : packageOf(dirname(folder));
}

/** Makes arguments that fit the schema of a saga, if its form is flat. */
function simplestInput({ input }: Program): string {
  const form =
    input === undefined ? undefined : formOf({ requestedSchema: toJsonSchema(input, 'input') });
  return JSON.stringify(form === undefined ? {} : simplestContent(form));
}
