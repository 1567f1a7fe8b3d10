import type { ExecutionEvents } from '../replay/execution.ts';
import type { Runtime } from '../model/runtime.ts';

/** Reports progress and log messages to the client. Progress never decreases. */
export class Teller {
  /** Last reported progress. */
  progress: number | undefined;
  readonly #runtime: Runtime;

  constructor(runtime: Runtime, progress: number | undefined) {
    this.#runtime = runtime;
    this.progress = progress;
  }

  /** Reports a log message, or progress unless it does not increase. */
  tell(spec: Parameters<ExecutionEvents['tell']>[0]): void {
    if (spec.kind === 'log') {
      this.#runtime.log(spec.level, spec.data);
      return;
    }
    const { value, total, message } = spec;
    if (this.progress !== undefined && value <= this.progress) return;
    this.progress = value;
    this.#runtime.progress({
      value,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  }
}
