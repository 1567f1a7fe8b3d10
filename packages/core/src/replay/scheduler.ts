import { noting } from '../values/body-log.ts';
import { type CommandSpec } from '../effects/effect-of.ts';
import { explained, kindOf, notACommand, specOf } from '../effects/make-command.ts';
import type { Command } from '../model/command.ts';
import type { FiberEnd } from '../undo/ending.ts';
import type { ProgramLimits } from '../model/runtime.ts';
import { CreatedCommands } from './created-commands.ts';
import { endValue } from './end-generator.ts';
import { SagaLimitExceeded } from '../values/errors.ts';
import { advanceFiber, type Fiber, type Resumption } from './fiber.ts';
import type { UndoStack } from '../undo/undo-stack.ts';

/**
 * Number of commands that a branch may yield in `finally` blocks after the branch was told to end.
 */
const maxLastWords = 100;

export interface FiberHost {
  /**
   * Carries out a command. Returns `true` if `how` and `value` of the scheduler hold the outcome.
   */
  issue(fiber: Fiber, spec: CommandSpec): boolean;
  ended(fiber: Fiber, end: FiberEnd): void;
}

/**
 * Resumes fibers in turn, each until the fiber waits. Determines the order of all events in a body.
 */
export class Scheduler {
  /**
   * Resumption of the fiber that issued the last command. A field, so that replay allocates
   * nothing.
   */
  how: Resumption = 'next';
  value: unknown;
  readonly created: CreatedCommands = new CreatedCommands();
  readonly #host: FiberHost;
  readonly #maxCommands: number;
  readonly #ready: NonNullable<Fiber['queued']>[] = [];
  #commands = 0;
  readonly #stack: Pick<UndoStack, 'addUncompensated'>;

  constructor(
    host: FiberHost,
    { maxCommands }: Pick<ProgramLimits, 'maxCommands'>,
    stack: Pick<UndoStack, 'addUncompensated'>,
  ) {
    this.#host = host;
    this.#stack = stack;
    this.#maxCommands = maxCommands;
  }

  /** `true` if no fiber is queued. */
  get idle(): boolean {
    return this.#ready.length === 0;
  }

  resume(fiber: Fiber, how: Resumption, value: unknown): void {
    const queued = { fiber, how, value, dropped: false };
    fiber.queued = queued;
    this.#ready.push(queued);
  }

  clear(): void {
    this.#ready.length = 0;
  }

  /** Resets the command count: the undo has a limit of the same size. */
  recount(): void {
    this.#commands = 0;
  }

  drain(): void {
    noting(this.created, () => {
      for (let queued = this.#ready.shift(); queued !== undefined; queued = this.#ready.shift()) {
        if (!queued.dropped) this.#run(queued.fiber, queued.how, queued.value);
      }
    });
  }

  #run(fiber: Fiber, how: Resumption, value: unknown): void {
    fiber.queued = undefined;
    fiber.started = true;
    this.created.creator = fiber;
    for (;;) {
      if (fiber.isOpaque && how !== 'return') {
        // Helpers are invisible: the rest of the `finally` is skipped, and reported as
        // uncompensated.
        this.#stack.addUncompensated(
          `finally after ${fiber.lastSteps.at(-1) ?? 'its first command'}`,
        );
        how = 'return';
      }
      let step: IteratorResult<Command<unknown>, unknown>;
      try {
        step = advanceFiber(fiber, how, value);
      } catch (error) {
        this.#host.ended(fiber, { error: explained(error) });
        return;
      }
      if (step.done === true) {
        if (fiber.toldToEnd) this.#nameSwallowed(fiber, step.value);
        this.#host.ended(fiber, { result: step.value });
        return;
      }
      if (++this.#commands > this.#maxCommands) throw tooManyCommands(this.#maxCommands);
      if (fiber.closing && ++fiber.lastWords > maxLastWords) {
        this.#stack.addUncompensated(pathOf(fiber, specOf(step.value)));
        this.#host.ended(fiber, { result: undefined });
        return;
      }
      this.created.take(step.value);
      const spec = specOf(step.value);
      if (spec === undefined) {
        how = 'throw';
        value = notACommand(kindOf(step.value));
      } else if (this.#host.issue(fiber, spec)) {
        how = this.how;
        value = this.value;
      } else {
        return;
      }
    }
  }

  /**
   * Reports steps that ran after the branch was told to end, because a `finally` prevented the end.
   */
  #nameSwallowed(fiber: Fiber, result: unknown): void {
    if (!fiber.goesOn && result === endValue) return;
    for (const path of fiber.lastSteps) this.#stack.addUncompensated(path);
  }
}

/** Path of a command that is not carried out. */
function pathOf({ scope }: Fiber, spec: CommandSpec | undefined): string {
  if (spec === undefined || !('id' in spec)) return `${scope.prefix}finally`;
  return scope.path(
    spec.kind === 'step' && spec.key !== undefined ? `${spec.id}(${spec.key})` : spec.id,
  );
}

function tooManyCommands(limit: number): SagaLimitExceeded {
  return new SagaLimitExceeded(
    `The saga yielded more than ${limit} commands in one turn. Look for an endless loop, or continue as a new saga.`,
  );
}
