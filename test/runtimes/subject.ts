import type { Bundle } from './bundle.ts';
import type { Runner } from './runners.ts';
import type { Effect } from './server/effects.ts';
import { startServing, type Serving } from './serving.ts';

/** What a host of the server under test is to be like: see `conformanceServer`. */
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

  /** Starts it with these keys, unless it was started before, and waits until it serves. */
  async start(keys: string): Promise<void> {
    this.#starting ??= this.#start(keys);
    await this.#starting;
  }

  async #start(keys: string): Promise<void> {
    const { executable, args, port, bundle } = this.runner;
    this.#bundle = await bundle?.();
    const cwd = this.#bundle === undefined ? {} : { cwd: this.#bundle.folder };
    this.#serving = await startServing({ executable: await executable(), args, keys, port, ...cwd });
  }

  async stop(): Promise<void> {
    await this.#serving?.stop();
    await this.#bundle?.remove();
  }

  /** Where a host serves statelessly. */
  mcp(query: HostQuery = {}): URL {
    return this.#at('mcp', query);
  }

  /** Where a host keeps sessions. */
  session(sdk: 1 | 2): URL {
    return this.#at(`session/${sdk}`);
  }

  /** What the steps of a call did here. */
  async effects(label: string): Promise<readonly Effect[]> {
    const response = await fetch(this.#at('effects', { label }));
    return (await response.json()) as readonly Effect[];
  }

  /** The codes of the errors that ended turns of the saga of a token here, which only the host's hooks are told. */
  async failures(token: string): Promise<readonly string[]> {
    const [header = ''] = token.split('.');
    const { sid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly sid: string };
    return (await this.effects(sid)).map(({ what }) => what);
  }

  /** The implementations that seal here. */
  get sealings(): readonly ('fast' | 'portable')[] {
    return this.runner.sealing === 'fast' ? ['fast', 'portable'] : ['portable'];
  }

  #at(path: string, query: object = {}): URL {
    if (this.#serving === undefined) throw new Error(`${this.name} does not serve.`);
    const url = new URL(path, this.#serving.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    return url;
  }
}
