import {
  CreatedCommands,
  notACommand,
  noting,
  specOf,
  take,
  type CommandSpec,
} from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import type { FiberEnd } from '../undo/ending.ts';
import type { Runtime } from '../model/runtime.ts';
import { endValue } from './end-generator.ts';
import { SagaLimitExceeded } from '../values/errors.ts';
import { advanceFiber, type Fiber, type Resumption } from './fiber.ts';
import type { UndoStack } from '../undo/undo-stack.ts';

/** How many commands a branch may yield in its `finally` blocks after it was told to end. */
const maxLastWords = 100;

/** Who carries out what fibers yield. */
export interface FiberHost {
  /** Carries out a command. True when its outcome is there already: in `how` and `value` of the scheduler. */
  issue(fiber: Fiber, spec: CommandSpec): boolean;
  ended(fiber: Fiber, end: FiberEnd): void;
}

/** Resumes fibers one after the other, each as far as it goes: the order of everything that happens in a body. */
export class Scheduler {
  /** How the fiber that has just issued a command goes on. Kept here, so that replay allocates nothing for it. */
  how: Resumption = 'next';
  value: unknown;

  readonly #host: FiberHost;
  readonly #maxCommands: number;
  readonly #created = new CreatedCommands();
  readonly #ready: NonNullable<Fiber['queued']>[] = [];
  #commands = 0;

  readonly #stack: Pick<UndoStack, 'addUncompensated'>;

  constructor(
    host: FiberHost,
    { limits }: Pick<Runtime, 'limits'>,
    stack: Pick<UndoStack, 'addUncompensated'>,
  ) {
    this.#host = host;
    this.#stack = stack;
    this.#maxCommands = limits.maxCommands;
  }

  /** Whether no fiber is queued. */
  get idle(): boolean {
    return this.#ready.length === 0;
  }

  /** Queues a fiber to be resumed. */
  resume(fiber: Fiber, how: Resumption, value: unknown): void {
    const queued = { fiber, how, value, dropped: false };
    fiber.queued = queued;
    this.#ready.push(queued);
  }

  /** Drops queued resumptions. */
  clear(): void {
    this.#ready.length = 0;
  }

  /** Resets the command count: undoing has the same limit as the body, of its own. */
  recount(): void {
    this.#commands = 0;
  }

  /** Runs code of the author, and notes the commands it creates. */
  noting<T>(code: () => T): T {
    return noting(this.#created, code);
  }

  /** A command was taken up. */
  taken(command: unknown): void {
    take(command);
  }

  /** Commands that were created and never yielded. */
  floated(): readonly CommandSpec[] {
    return this.#created.floating;
  }

  /** Resumes what is queued, until nothing is. */
  drain(): void {
    noting(this.#created, () => {
      for (let queued = this.#ready.shift(); queued !== undefined; queued = this.#ready.shift()) {
        if (!queued.dropped) this.#run(queued.fiber, queued.how, queued.value);
      }
    });
  }

  #run(fiber: Fiber, how: Resumption, value: unknown): void {
    fiber.queued = undefined;
    fiber.started = true;
    for (;;) {
      if (fiber.isOpaque && how !== 'return') {
        // Nothing tells helpers here. The rest of a `finally` does not run, and is named.
        this.#stack.addUncompensated(`finally after ${fiber.lastSteps.at(-1) ?? 'its first command'}`);
        how = 'return';
      }
      let step: IteratorResult<Command<unknown>, unknown>;
      try {
        step = advanceFiber(fiber, how, value);
      } catch (error) {
        this.#host.ended(fiber, { error });
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
      take(step.value);
      const spec = specOf(step.value);
      if (spec === undefined) {
        how = 'throw';
        value = notACommand(step.value);
      } else if (this.#host.issue(fiber, spec)) {
        how = this.how;
        value = this.value;
      } else {
        return;
      }
    }
  }

  /** Names the steps that ran although their branch was told to end, where a `finally` did not let it. */
  #nameSwallowed(fiber: Fiber, result: unknown): void {
    if (!fiber.goesOn && result === endValue) return;
    for (const path of fiber.lastSteps) this.#stack.addUncompensated(path);
  }
}

/** The path of a command that is not carried out. */
function pathOf({ scope }: Fiber, spec: CommandSpec | undefined): string {
  if (spec === undefined || !('id' in spec)) return `${scope.prefix}finally`;
  return scope.path(spec.kind === 'step' && spec.key !== undefined ? `${spec.id}(${spec.key})` : spec.id);
}

function tooManyCommands(limit: number): SagaLimitExceeded {
  return new SagaLimitExceeded(
    `The saga yielded more than ${limit} commands in one turn. Is there a loop without end, or is maxCommands too low?`,
  );
}
