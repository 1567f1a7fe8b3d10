import { nearestName } from '@mcp-saga/server/internal';
import { toSource } from '../script/script-source.ts';
import { SagaTestError } from '../values/errors.ts';

/** The connection was cut. The outcome of the request is unknown. */
export class WireCut extends SagaTestError {
  declare readonly code: 'wire_cut';

  constructor() {
    super('wire_cut', 'The connection was cut by cutAfter: the outcome of the request is unknown.');
    this.name = 'WireCut';
  }
}

const handshake: ReadonlySet<unknown> = new Set(['server/discover', 'initialize']);

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
    const [missing, seen] =
      typeof unmet === 'string'
        ? [`step '${unmet}' did not run`, `Steps that ran: ${ran.join(', ') || 'none'}`]
        : [`request ${unmet} was not sent`, `Requests sent: ${this.#sent}`];
    throw new SagaTestError(
      'script',
      `cutAfter(${toSource(unmet)}) never cut a connection: ${missing}. ` +
        `${near === undefined ? '' : `Did you mean '${near}'? `}${seen}.`,
    );
  }

  /** Counts a request, except of a handshake. Returns `true` to drop the answer. */
  sending({ id, method }: { readonly id?: unknown; readonly method?: unknown }): boolean {
    if (id === undefined || method === undefined || handshake.has(method)) return false;
    this.#sent += 1;
    this.#cut.add(this.#sent);
    return this.#requests.has(this.#sent);
  }

  /** Registers an open connection. Call the result when it closes. */
  opened(cut: () => void): () => void {
    this.#open.add(cut);
    return () => void this.#open.delete(cut);
  }

  /** Reports a finished step, and makes planned cuts. */
  ran(id: string): void {
    this.#ran.add(id);
    const left = this.#steps.get(id) ?? 0;
    if (left <= 0) return;
    this.#steps.set(id, left - 1);
    this.#cut.add(id);
    const open = [...this.#open];
    this.#open.clear();
    for (const cut of open) cut();
  }
}
