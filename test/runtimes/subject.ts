import type { Bundle } from './bundle.ts';
import type { Runner } from './runners.ts';
import type { Effect } from './server/effects.ts';
import { startServing, type Serving } from './serving.ts';

/** Query options of a tested host: see `conformanceServer`. */
export interface HostQuery {
  readonly keys?: string;
  readonly sealing?: 'fast' | 'portable';
  readonly at?: number;
}

/** The server of the suite under one runtime. */
export class Subject {
  readonly runner: Runner;
  readonly name: string;
  #bundle: Bundle | undefined;
  #serving: Serving | undefined;
  #starting: Promise<void> | undefined;

  constructor(runner: Runner) {
    this.runner = runner;
    this.name = `${runner.name} ${runner.version}`;
  }

  /** Starts the server with these keys, unless it already runs, and waits until it serves. */
  async start(keys: string): Promise<void> {
    this.#starting ??= this.#start(keys);
    await this.#starting;
  }

  async #start(keys: string): Promise<void> {
    const { args, bridge, port, bundle } = this.runner;
    const executable = await this.runner.executable();
    this.#bundle = await bundle?.();
    const cwd = this.#bundle === undefined ? {} : { cwd: this.#bundle.folder };
    const started =
      bridge === undefined
        ? { executable, args }
        : {
            executable: process.execPath,
            args: ['--import', 'tsx', bridge, executable, ...args],
            // The browser closes, and stops writing to its profile in the folder.
            stopSignal: 'SIGTERM' as const,
          };
    this.#serving = await startServing({ ...started, keys, port, ...cwd });
  }

  async stop(): Promise<void> {
    await this.#serving?.stop();
    await this.#bundle?.remove();
  }

  /** URL of a stateless host. */
  mcp(query: HostQuery = {}): URL {
    return this.at('mcp', query);
  }

  /** URL of a host with sessions. */
  session(sdk: 1 | 2): URL {
    return this.at(`session/${sdk}`);
  }

  /** Returns the effects of a call on this runtime. */
  async effects(label: string): Promise<readonly Effect[]> {
    const response = await fetch(this.at('effects', { label }));
    return (await response.json()) as readonly Effect[];
  }

  /**
   * Returns the codes of errors that ended turns of a token's saga here. Only the host's hooks
   * receive these codes.
   */
  async failures(token: string): Promise<readonly string[]> {
    const [header = ''] = token.split('.');
    const { sid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as {
      readonly sid: string;
    };
    return (await this.effects(sid)).map(({ what }) => what);
  }

  /** Sealing implementations of this runtime. */
  get sealings(): readonly ('fast' | 'portable')[] {
    return this.runner.sealing === 'fast' ? ['fast', 'portable'] : ['portable'];
  }

  /** URL of a path with a query. */
  at(path: string, query: object = {}): URL {
    if (this.#serving === undefined) throw new Error(`${this.name} does not serve.`);
    const url = new URL(path, this.#serving.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    return url;
  }
}
