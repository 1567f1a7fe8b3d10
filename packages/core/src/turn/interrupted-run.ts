import { digestOfSteps, listedSteps, suspect, type Task } from '../replay/fiber.ts';
import type { Journal } from '../journal/journal.ts';
import type { CommittedTurn } from '../model/outcome.ts';
import type { Runtime, RuntimeTurn } from '../model/runtime.ts';
import { pathOfTurn, undoMark } from '../values/path.ts';

/** `true` if an interrupted run of the turn may have executed effects. */
export function mayHaveRun({ isInterrupted, defersEffects, deadline }: RuntimeTurn): boolean {
  return isInterrupted === true && defersEffects !== 'all' && deadline !== Number.NEGATIVE_INFINITY;
}

/** Runtime of the turn after a commit, without an interrupted run. */
export function runtimeAfter(runtime: Runtime, next: CommittedTurn): Runtime {
  const { receivedAt: _, isInterrupted: __, ...turn } = runtime.turn;
  const { turn: number, tokenBytes, deadline } = next;
  return { ...runtime, turn: { ...turn, number, tokenBytes, deadline } };
}

/** Steps of a list that are noted in one entry, and not in an entry for each. */
const manySteps = 10;

/**
 * Finds the steps that an interrupted run of the turn may have executed. Such a step starts with an
 * unknown outcome, so a later error cannot report that the effect did not happen.
 */
export class InterruptedRun {
  #run: RuntimeTurn;
  /**
   * Number of the interrupted turn whose run may have gone on behind a time that has not passed
   * here.
   */
  #ahead: number | undefined;
  #isUnknown = false;
  /**
   * Number of the interrupted turn, if the run may have executed steps that this turn never issues.
   */
  #turn: number | undefined;
  /**
   * Steps that the interrupted run cannot have started: the event that ended this turn also ended
   * that run.
   */
  readonly #behind = new Set<Task>();
  readonly #seen = new Set<Task>();
  #wasKept = false;

  /** @param ahead - number that the head of the saga keeps, if any */
  constructor(turn: RuntimeTurn, ahead: number | undefined) {
    this.#run = turn;
    this.#ahead = ahead;
    this.#turn = ahead;
  }

  /** Number to keep in the head while the saga waits for a time. */
  get ahead(): number | undefined {
    return this.#ahead;
  }

  /** Starts the live phase, after replay. */
  goLive(pending: Iterable<Task>): void {
    const { number, commitsEach } = this.#run;
    const isInterrupted = mayHaveRun(this.#run);
    this.#isUnknown ||= isInterrupted;
    // It may have waited in its request for a time that this run leaves to a later turn.
    if (isInterrupted) this.#ahead ??= number;
    // With a token after each step, the interrupted run has started only the steps of this run.
    if (this.#isUnknown && !commitsEach) this.#turn ??= number;
    this.#inherit(pending);
  }

  /**
   * Resets the state after a commit: the next turn has no other run.
   * @param ahead - number that the committed head keeps, if any
   */
  committed(turn: RuntimeTurn, pending: Iterable<Task>, ahead: number | undefined): void {
    this.#run = turn;
    this.#ahead = ahead;
    this.#isUnknown = false;
    this.#turn = ahead;
    this.#behind.clear();
    this.#wasKept = false;
    this.#inherit(pending);
  }

  /** Takes the number of the interrupted turn from steps that an earlier turn had no time for. */
  #inherit(pending: Iterable<Task>): void {
    for (const { interruptedTurn } of pending) this.#turn ??= interruptedTurn;
    this.#isUnknown ||= this.#turn !== undefined;
  }

  /**
   * Gives a step an unknown outcome if the interrupted run may have executed the step.
   * @param isKept - `true` if the turn ends before another effect runs
   * @returns `true` if the outcome was not unknown before
   */
  mark(task: Task, isKept: boolean): boolean {
    if (!this.#isUnknown || task.spec.kind !== 'step' || task.path.startsWith(undoMark))
      return false;
    if (isKept && !this.#wasKept && !this.#seen.has(task)) this.#behind.add(task);
    this.#seen.add(task);
    if (this.#behind.has(task)) return false;
    if (this.#isSuspected(task)) return false;
    task.unknown = true;
    task.interruptedTurn ??= this.#turn;
    return true;
  }

  /**
   * Gives an unknown outcome to all steps of lists, if they are many. One entry notes them: an entry
   * for each would fill the token long before the list has ended. A replay reads it at the same
   * place, with the same steps pending.
   */
  suspectListed(pending: ReadonlyMap<string, Task>, journal: Journal): void {
    if (!this.#isUnknown) return;
    const steps = listedSteps(pending);
    if (steps.filter((task) => !this.#isSuspected(task)).length < manySteps) return;
    const turn = this.#turn ?? 0;
    journal.add({
      type: 'suspected',
      path: pathOfTurn(turn === 0 ? this.#run.number : turn),
      fingerprint: digestOfSteps(steps),
      text: String(turn),
    });
    suspect(steps, turn);
  }

  /** A step keeps the first turn that was interrupted around it, so another one changes nothing. */
  #isSuspected({ unknown, interruptedTurn }: Task): boolean {
    return unknown && (this.#turn === undefined || interruptedTurn !== undefined);
  }

  /**
   * Notes a step that waits for a slot here. In the interrupted run, a slot may have been free
   * earlier, so the step may have run there.
   */
  held(task: Task, isKept: boolean): void {
    if (!isKept) this.#seen.add(task);
  }

  /** Ends a pass over all steps. */
  marked(isKept: boolean): void {
    this.#wasKept = isKept;
  }
}
