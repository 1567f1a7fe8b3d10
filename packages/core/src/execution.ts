import { decode, encode } from './codec.ts';
import { endBranch, forkBranches, nestBranch, type BranchHost } from './branches.ts';
import { notACommand, noting, specOf, type Command } from './command.ts';
import { isAskedOfClient, type CommandSpec, type GroupSpec, type JournalledSpec } from './command-spec.ts';
import { ReplayMismatch, SagaError, SagaLimitExceeded, type StepFacts } from './errors.ts';
import { advanceFiber, Fiber, newTask, type FiberEnd, type Resumption, type Task } from './fiber.ts';
import { lettersOf, type Journal, type NewEntry } from './journal.ts';
import { outcomeOf } from './outcome-of.ts';
import { Scope } from './path.ts';
import type { Runtime } from './program.ts';
import { startBody } from './start-body.ts';

/** How many commands a branch may yield in its `finally` blocks after it was told to end. */
const maxLastWords = 100;

/** What an execution is to tell its turn. */
export interface ExecutionEvents {
  /** Whether what is told now is news: false while the journal is replayed. */
  live: boolean;
  readonly runtime: Runtime;
  tell(spec: Extract<CommandSpec, { kind: 'progress' | 'log' }>): void;
  info(): unknown;
}

/**
 * Runs a body by its journal: hands out recorded outcomes in the order they were recorded, and collects the
 * commands that wait for an outcome. It executes nothing itself; the turn does.
 */
export class Execution implements BranchHost {
  /** Commands that wait for an outcome, in the order they were asked. */
  readonly pending: Map<string, Task> = new Map();
  /** How the body ended. */
  end: FiberEnd | undefined;

  readonly #journal: Journal;
  readonly #events: ExecutionEvents;
  readonly #ready: NonNullable<Fiber['queued']>[] = [];
  readonly #floated: Set<Command<unknown>> | undefined;
  #commands = 0;
  // The outcome handed to the body, kept here so that replay allocates nothing for it.
  #how: Resumption = 'next';
  #value: unknown;

  constructor(journal: Journal, events: ExecutionEvents) {
    this.#journal = journal;
    this.#events = events;
    this.#floated = events.runtime.warn === undefined ? undefined : new Set();
  }

  /** Starts the body and runs it as far as it goes, then replays the rest of the journal. */
  start(body: () => Iterator<Command<unknown>, unknown, unknown>): void {
    const iterator = noting(this.#floated, body);
    this.resume(new Fiber(iterator, new Scope('')), 'next', undefined);
    this.#drain();
    while (this.#journal.replaying) {
      const task = this.pending.get(this.#journal.path);
      if (task === undefined) throw this.#mismatch();
      if (this.#consume(task)) this.#settle(task, this.#how, this.#value);
      this.#drain();
    }
  }

  /** Records what became of a task, and runs the body as far as it goes. */
  record(task: Task, entry: Omit<NewEntry, 'path' | 'fingerprint'>, value: unknown): void {
    this.#journal.append({ ...entry, path: task.path, fingerprint: task.fingerprint });
    if (entry.letter === 't') {
      // It was to be tried again, but its branch has been ended meanwhile.
      if (task.discarded) this.record(task, { letter: 'w' }, undefined);
      return;
    }
    this.#outcome(task.spec, task.path, entry.letter, value);
    this.#settle(task, this.#how, this.#value);
    this.#drain();
  }

  /** Commands that were created and never yielded. */
  floated(): readonly CommandSpec[] {
    return [...(this.#floated ?? [])].flatMap((command) => specOf(command) ?? []);
  }

  #settle(task: Task, how: Resumption, value: unknown): void {
    this.pending.delete(task.path);
    task.fiber.waiting = undefined;
    if (task.discarded) this.resume(task.fiber, 'return', undefined);
    else if (task.spec.kind === 'call' && how === 'next') this.#call(task.fiber, task.spec, task.path, value);
    else this.resume(task.fiber, how, value);
  }

  /** Queues a fiber to be resumed. */
  resume(fiber: Fiber, how: Resumption, value: unknown): void {
    const queued = { fiber, how, value, dropped: false };
    fiber.queued = queued;
    this.#ready.push(queued);
  }

  #drain(): void {
    for (let queued = this.#ready.shift(); queued !== undefined; queued = this.#ready.shift()) {
      if (!queued.dropped) this.#run(queued.fiber, queued.how, queued.value);
    }
  }

  #run(fiber: Fiber, how: Resumption, value: unknown): void {
    fiber.queued = undefined;
    fiber.started = true;
    for (;;) {
      let step: IteratorResult<Command<unknown>, unknown>;
      try {
        step =
          this.#floated === undefined
            ? advanceFiber(fiber, how, value)
            : noting(this.#floated, () => advanceFiber(fiber, how, value));
      } catch (error) {
        this.#finish(fiber, { error });
        return;
      }
      if (step.done === true) {
        this.#finish(fiber, { result: step.value });
        return;
      }
      if (++this.#commands > this.#events.runtime.limits.maxCommands)
        throw tooManyCommands(this.#commands - 1);
      if (fiber.closing && ++fiber.lastWords > maxLastWords) {
        this.#finish(fiber, { result: undefined });
        return;
      }
      this.#floated?.delete(step.value);
      const spec = specOf(step.value);
      if (spec === undefined) {
        how = 'throw';
        value = notACommand(step.value);
      } else if (this.#issue(fiber, spec)) {
        how = this.#how;
        value = this.#value;
      } else {
        return;
      }
    }
  }

  /** Carries out a command; true when its outcome is there already. */
  #issue(fiber: Fiber, spec: CommandSpec): boolean {
    switch (spec.kind) {
      case 'progress':
      case 'log':
        if (this.#events.live) this.#events.tell(spec);
        this.#how = 'next';
        this.#value = undefined;
        return true;
      case 'all':
      case 'allSettled':
        return this.#fork(fiber, spec);
      case 'scope':
        nestBranch(this, fiber, 'scope', spec.steps[Symbol.iterator](), fiber.scope.below(spec.id));
        return false;
      case 'elicit':
      case 'elicitUrl':
      case 'sample':
      case 'roots':
      case 'checkpoint':
        if (fiber.isEnding) {
          this.#how = 'throw';
          this.#value = new SagaError(`'${spec.id}' cannot be asked while its branch is being ended.`);
          return true;
        }
        return this.#await(fiber, spec);
      case 'step':
      case 'call':
      case 'now':
      case 'random':
      case 'uuid':
      case 'info':
        return this.#await(fiber, spec);
    }
  }

  #await(fiber: Fiber, spec: JournalledSpec): boolean {
    const key = spec.kind === 'step' ? spec.key : undefined;
    const path = fiber.scope.path(key === undefined ? spec.id : `${spec.id}(${key})`);
    const inline = spec.kind === 'now' || spec.kind === 'info';
    // The next entry may be taken at once only if no other branch has to run before it, as none had when it was
    // recorded; what is read at once was recorded at once.
    if ((inline || this.#ready.length === 0) && this.#journal.isAbout(path)) {
      const task = newTask(fiber, spec, path);
      if (this.#consume(task)) {
        if (spec.kind !== 'call' || this.#how !== 'next') return true;
        this.#call(fiber, spec, path, this.#value);
      } else {
        this.#wait(task);
      }
      return false;
    }
    const task = newTask(fiber, spec, path);
    if (!inline) {
      this.#wait(task);
      return false;
    }
    if (this.#journal.replaying) throw this.#mismatch(task);
    const text = encode(spec.kind === 'now' ? this.#events.runtime.now() : this.#events.info());
    const letter = spec.kind === 'now' ? 'n' : 'i';
    this.#journal.append({ letter, path, fingerprint: task.fingerprint, text });
    this.#how = 'next';
    this.#value = decode(text);
    return true;
  }

  #wait(task: Task): void {
    const { spec } = task;
    if (spec.kind === 'step' && spec.input !== undefined) task.input = JSON.stringify(spec.input);
    task.fiber.waiting = task;
    this.pending.set(task.path, task);
  }

  /** Takes the next entry for `task`; false when the task goes on waiting. */
  #consume(task: Task): boolean {
    const journal = this.#journal;
    const { letter } = journal;
    if (journal.fingerprint !== task.fingerprint || !(lettersOf[task.spec.kind] as string).includes(letter)) {
      throw this.#mismatch(task);
    }
    if (letter === 'w' && !task.discarded) throw this.#mismatch(task);
    const value = journal.next();
    if (letter === 't') {
      [task.attempts, task.notBefore] = value as [number, number];
      return false;
    }
    this.#outcome(task.spec, task.path, letter, value);
    return true;
  }

  #outcome(spec: JournalledSpec, path: string, letter: string, value: unknown): void {
    const thrown = outcomeOf(spec, path, letter, value);
    this.#how = thrown.failed ? 'throw' : 'next';
    this.#value = thrown.value;
  }

  #fork(fiber: Fiber, spec: GroupSpec): boolean {
    for (const { steps } of spec.branches) this.#floated?.delete(steps as Command<unknown>);
    const group = forkBranches(this, fiber, spec);
    if (group.open > 0) return false;
    this.#how = 'next';
    this.#value = group.result();
    return true;
  }

  #finish(fiber: Fiber, end: FiberEnd): void {
    if (fiber.group === undefined) {
      fiber.ended = true;
      this.end = end;
    } else {
      endBranch(this, fiber, fiber.group, end);
    }
  }

  /** Withdraws a task that waits for the client or has not been started; false when it has to be awaited. */
  withdraw(task: Task): boolean {
    if (!isAskedOfClient(task.spec.kind)) {
      task.discarded = true;
      task.running?.abort(new SagaError('A sibling of this step failed.'));
      const journal = this.#journal;
      if (journal.replaying) {
        // Had it not been started then, the journal says so next: at once, as it was recorded at once.
        if (journal.letter !== 'w' || !journal.isAbout(task.path)) return false;
        this.#consume(task);
      } else if (task.running === undefined) {
        journal.append({ letter: 'w', path: task.path, fingerprint: task.fingerprint });
      } else {
        return false;
      }
    }
    this.pending.delete(task.path);
    task.fiber.waiting = undefined;
    return true;
  }

  #call(fiber: Fiber, spec: Extract<CommandSpec, { kind: 'call' }>, path: string, input: unknown): void {
    try {
      const body = noting(this.#floated, () => startBody(spec.id, spec.body, input));
      nestBranch(this, fiber, 'call', body, new Scope(`${path}/`));
    } catch (error) {
      this.resume(fiber, 'throw', error);
    }
  }

  #mismatch(task?: Task): ReplayMismatch {
    const asked = task === undefined ? [...this.pending.values()].map(factsOf) : [factsOf(task)];
    return new ReplayMismatch(this.#journal.count, this.#journal.facts(), asked);
  }
}

function tooManyCommands(limit: number): SagaLimitExceeded {
  return new SagaLimitExceeded(
    `The saga yielded more than ${limit} commands in one turn. Is there a loop without end, or is maxCommands too low?`,
  );
}

function factsOf({ spec, path, fingerprint }: Task): StepFacts {
  return { kind: spec.kind, path, fingerprint };
}
