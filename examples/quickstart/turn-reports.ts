/** Report of a server process about one turn. */
export interface TurnReport {
  /** Which process. */
  readonly server: string;
  /** The server steps it ran. */
  readonly ran: readonly string[];
}

const patience = 5000;

/**
 * Reads the reports that server processes print about their turns. The reports prove which process
 * served a turn; the address of a request does not.
 */
export class TurnReports {
  readonly #running = new Map<string, string[]>();
  readonly #reports: TurnReport[] = [];
  #arrived: (() => void) | undefined;

  /** Takes one line of a process. */
  hear(server: string, line: string): void {
    const ran = this.#running.get(server) ?? [];
    this.#running.set(server, ran);
    const step = /^step (\S+) succeeded$/.exec(line)?.[1];
    if (step !== undefined) ran.push(step);
    if (!/^turn \d+ \w+$/.test(line)) return;
    this.#running.delete(server);
    this.#reports.push({ server, ran });
    this.#arrived?.();
  }

  /**
   * Returns the next reported turn.
   *
   * @throws Error after five seconds without one
   */
  async next(): Promise<TurnReport> {
    const report = this.#reports.shift();
    if (report !== undefined) return report;
    await new Promise<void>((resolve, reject) => {
      const late = (): void =>
        reject(new Error("No process reported the turn; does server.ts print 'turn …'?"));
      const timer = setTimeout(late, patience);
      this.#arrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return await this.next();
  }
}
