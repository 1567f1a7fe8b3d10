import { present } from '../values/json.ts';
import { infoIn } from '../effects/parts/saga-info.ts';
import type { ExecutionEvents } from '../replay/execution.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnClock } from './time/clocks.ts';

/** What an execution tells its turn, and reads from it. */
export class TurnEvents implements ExecutionEvents {
  runtime: Runtime;
  readonly declaresForks: boolean;
  /** Last reported progress. It never decreases. */
  progress: number | undefined;
  readonly clock: TurnClock;

  constructor(runtime: Runtime, declaresForks: boolean, progress: number | undefined) {
    this.runtime = runtime;
    this.declaresForks = declaresForks;
    this.progress = progress;
    this.clock = new TurnClock(runtime);
  }

  /** Reports a log message, or progress unless it does not increase. */
  tell(spec: Parameters<ExecutionEvents['tell']>[0]): void {
    if (spec.kind === 'log') {
      this.runtime.log(spec.level, spec.data);
      return;
    }
    const { value, total, message } = spec;
    if (this.progress !== undefined && value <= this.progress) return;
    this.progress = value;
    this.runtime.progress({
      value,
      ...present({ total, message }),
    });
  }

  /** The time as the body reads it: what it decides by that, it decides as it did when the turn was begun. (E1) */
  now(): number {
    return this.clock.timeFor({ isEarlier: true });
  }

  /** What the saga can know about itself in this turn. */
  info(): unknown {
    return infoIn(this.runtime);
  }
}
