import type { Task } from '../replay/fiber.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoMark } from '../values/path.ts';

/**
 * Finds the steps that an earlier run of this turn may have executed: a run that began and never finished. Such a step starts
 * with an unknown outcome, so that a later error cannot report that its effect did not happen. (E9)
 */
export class InterruptedRun {
  #runtime: Pick<Runtime, 'isInterrupted' | 'turn' | 'commitsEach' | 'defersEffects' | 'deadline'>;
  #isUnknown = false;
  /** Number of the interrupted turn, if that run may have continued with steps that this turn never issues. */
  #turn: number | undefined;
  /** Steps that the interrupted run cannot have started, since the event that ended this turn ended that run as well. */
  readonly #behind = new Set<Task>();
  readonly #seen = new Set<Task>();
  #wasKept = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Replay has ended. */
  goLive(pending: Iterable<Task>): void {
    const { isInterrupted, turn, commitsEach, defersEffects, deadline } = this.#runtime;
    const runs = defersEffects !== true && deadline !== Number.NEGATIVE_INFINITY;
    this.#isUnknown ||= runs && isInterrupted === true;
    // With a token after each step, the interrupted run has started the same steps as this one, and no others.
    if (this.#isUnknown && !commitsEach) this.#turn ??= turn;
    this.#inherit(pending);
  }

  /** The turn was committed: the next one has no other run. */
  committed(runtime: Runtime, pending: Iterable<Task>): void {
    this.#runtime = runtime;
    this.#isUnknown = false;
    this.#turn = undefined;
    this.#behind.clear();
    this.#wasKept = false;
    this.#inherit(pending);
  }

  /** A step that an earlier turn had no time for carries the number of the interrupted turn. */
  #inherit(pending: Iterable<Task>): void {
    for (const { interruptedTurn } of pending) this.#turn ??= interruptedTurn;
    this.#isUnknown ||= this.#turn !== undefined;
  }

  /**
   * Gives a step an unknown outcome if the interrupted run may have executed it.
   *
   * @param isKept - whether this turn ends before it runs anything else
   * @returns whether that is news about the step
   */
  mark(task: Task, isKept: boolean): boolean {
    if (!this.#isUnknown || task.spec.kind !== 'step' || task.path.startsWith(undoMark)) return false;
    if (isKept && !this.#wasKept && !this.#seen.has(task)) this.#behind.add(task);
    this.#seen.add(task);
    if (this.#behind.has(task)) return false;
    if (task.unknown && task.interruptedTurn === this.#turn) return false;
    task.unknown = true;
    task.interruptedTurn ??= this.#turn;
    return true;
  }

  /** All steps were looked at. */
  marked(isKept: boolean): void {
    this.#wasKept = isKept;
  }
}
