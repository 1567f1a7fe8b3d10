import { infoIn } from '../effects/parts/saga-info.ts';
import type { ExecutionEvents } from '../replay/execution.ts';
import type { Journal } from '../journal/journal.ts';
import type { TellSpec } from '../model/command.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnClock } from './time/clocks.ts';

/** Events of an execution, and facts about the turn. */
export class TurnEvents implements ExecutionEvents {
  runtime: Runtime;
  readonly acceptsReuse: boolean;
  readonly suspends: false | undefined;
  /** Last reported progress. Never decreases. */
  progress: number | undefined;
  readonly clock: TurnClock;
  readonly #journal: Pick<Journal, 'count' | 'lastingFacts'>;

  constructor(
    runtime: Runtime,
    journal: Pick<Journal, 'count' | 'lastingFacts'>,
    { acceptsReuse, suspends }: Pick<ExecutionEvents, 'acceptsReuse' | 'suspends'>,
    progress: number | undefined,
  ) {
    this.runtime = runtime;
    this.#journal = journal;
    this.acceptsReuse = acceptsReuse;
    this.suspends = suspends;
    this.progress = progress;
    this.clock = new TurnClock(runtime);
  }

  /** Reports a log message, or increased progress. */
  tell(spec: TellSpec): void {
    if (spec.kind === 'progress') {
      if (this.progress !== undefined && spec.value <= this.progress) return;
      this.progress = spec.value;
    }
    this.runtime.observer.notify(spec);
  }

  /** Time for the body: the same as when the turn began. */
  now(): number {
    return this.clock.timeFor({ isEarlier: true });
  }

  info(): unknown {
    return infoIn(this.runtime, this.#journal);
  }
}
