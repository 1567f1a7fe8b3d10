import { SagaTestError } from '../../values/errors.ts';
import { nearestName } from '@mcp-saga/server/internal';
import { toSource } from '../../script/script-source.ts';

/** Cuts connections as a test plans it. */
export class Cutter {
  readonly #steps = new Map<string, number>();
  readonly #requests = new Set<number>();
  readonly #open = new Set<() => void>();
  #sent = 0;
  readonly #ran = new Set<string>();
  readonly #cut = new Set<string | number>();

  /** Plans a cut after a step, or in place of the answer to a request. */
  plan(after: string | number, times: number): void {
    if (typeof after === 'number') this.#requests.add(after);
    else this.#steps.set(after, (this.#steps.get(after) ?? 0) + times);
  }

  /** Throws `script` if a planned cut never happened. `all`: no more requests follow. */
  assertMet(all: boolean): void {
    const planned = [...this.#steps.keys(), ...(all ? this.#requests : [])];
    const unmet = planned.find((after) => !this.#cut.has(after));
    if (unmet === undefined) return;
    const ran = [...this.#ran];
    const near = typeof unmet === 'string' ? nearestName(unmet, ran) : undefined;
    const were =
      typeof unmet === 'string' ? `Run were: ${ran.join(', ') || 'none'}` : `${this.#sent} were sent`;
    throw new SagaTestError(
      'script',
      `cutAfter(${toSource(unmet)}) never cut a connection: no ${typeof unmet === 'string' ? 'such step ran' : 'such request was sent'}. ` +
        `${near === undefined ? were : `Did you mean '${near}'? ${were}`}.`,
    );
  }

  /** Counts a request. Returns `true` if its answer is to be dropped. */
  sending(): boolean {
    this.#sent += 1;
    this.#cut.add(this.#sent);
    return this.#requests.has(this.#sent);
  }

  /** Registers an open connection. Call the result when it closes. */
  opened(cut: () => void): () => void {
    this.#open.add(cut);
    return () => void this.#open.delete(cut);
  }

  /** Reports that a step ran. Returns `true` if connections were cut. */
  ran(id: string): boolean {
    this.#ran.add(id);
    const left = this.#steps.get(id) ?? 0;
    if (left <= 0) return false;
    this.#steps.set(id, left - 1);
    this.#cut.add(id);
    // What is cut is not open any more.
    const open = Array.from(this.#open);
    for (const cut of open) cut();
    return true;
  }
}
