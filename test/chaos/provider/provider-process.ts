import { startProcess, type Process } from '../processes.ts';
import type { LedgerRows } from './ledger.ts';
import type { NoteRow } from './notes.ts';

/** Numbers of faults of the provider. */
export interface Faults {
  readonly late: number;
  readonly dropped: number;
  readonly failed: number;
  readonly outages: number;
}

/** Process of the provider. A restart keeps its port and its ledger. */
export class Provider {
  readonly #program: string;
  readonly #ledger: string;
  readonly #onLine: (line: string) => void;
  #seed: number;
  #process: Process | undefined;
  #port = '0';

  constructor(program: string, ledger: string, seed: number, onLine: (line: string) => void) {
    this.#program = program;
    this.#ledger = ledger;
    this.#seed = seed;
    this.#onLine = onLine;
  }

  get url(): URL {
    if (this.#process === undefined) throw new Error('The provider does not run.');
    return this.#process.url;
  }

  async start(): Promise<void> {
    this.#seed += 1;
    this.#process = await startProcess('provider', this.#program, {
      environment: { LEDGER: this.#ledger, SEED: String(this.#seed), PORT: this.#port },
      onLine: this.#onLine,
    });
    this.#port = this.#process.url.port;
  }

  /** Kills the process, and restarts it after a delay in milliseconds. */
  async restart(ms: number): Promise<void> {
    await this.kill();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async post(path: string, body: object = {}): Promise<void> {
    await fetch(new URL(path, this.url), { method: 'POST', body: JSON.stringify(body) });
  }

  /** Messages and decisions of sagas, with a number above the given one. */
  async notesAfter(after: number): Promise<readonly NoteRow[]> {
    const body = JSON.stringify({ after });
    // Node may never settle a request whose process is killed meanwhile. The caller asks again.
    const signal = AbortSignal.timeout(5_000);
    const response = await fetch(new URL('/notes', this.url), { method: 'POST', body, signal });
    return (await response.json()) as readonly NoteRow[];
  }

  async ledger(): Promise<LedgerRows & { readonly faults: Faults }> {
    const response = await fetch(new URL('/ledger', this.url));
    return (await response.json()) as LedgerRows & { readonly faults: Faults };
  }
}
