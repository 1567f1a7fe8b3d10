/**
 * Commands that a body created and has not yielded yet: what a forgotten `yield*` leaves behind.
 *
 * Ordinary bodies build commands early, in arrays, and in tables, so a command that waits for its
 * `yield*` is no mistake by itself. Two moments decide:
 *
 * 1. Before an effect runs for the first time, no question of its branch may be left. Nobody was
 *    asked yet, and the effect may need the answer. The effect fails instead, and the journal
 *    records the failure, so a replay never decides again.
 * 2. When the body returns a result, no question, no effect, and no `patched` may be left: the
 *    result would claim what did not happen. Reads and reports are only pointed out.
 *
 * A command belongs to the branch whose code created it. A branch that ends with a result passes
 * its commands on to its parent once the whole group has ended, because only then can the parent
 * know about them. Commands of a branch that failed, or lost a race, are forgotten: it could not
 * reach their `yield*`.
 */
import {
  effectOf,
  hasDescriptor,
  isEffect,
  onlyReads,
  type CommandSpec,
} from '../effects/effect-of.ts';
import { specOf } from '../effects/make-command.ts';
import type { Command } from '../model/command.ts';
import type { BodyLog } from '../values/body-log.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Fiber, Group } from './fiber.ts';

export class CreatedCommands implements BodyLog {
  /** Advice about values in the code of the body. */
  readonly advice: Set<string> = new Set();
  /** Branch whose code runs now. Undefined while the body itself is being called. */
  creator: Fiber | undefined;
  /**
   * Apart from the others: most commands are yielded before the next one is created, and cost
   * nothing.
   */
  #last: Command<unknown> | undefined;
  #lastCreator: Fiber | undefined;
  readonly #others = new Map<Command<unknown>, Fiber | undefined>();
  /** The questions among `#others`: an effect must not scan a thousand steps that were built early. */
  readonly #questions = new Set<Command<unknown>>();

  add(created: Command<unknown>): void {
    if (this.#last !== undefined) {
      this.#others.set(this.#last, this.#lastCreator);
      if (asksSomebody(specOf(this.#last))) this.#questions.add(this.#last);
    }
    this.#last = created;
    this.#lastCreator = this.creator;
  }

  advise(advice: string): void {
    this.advice.add(advice);
  }

  /** Forgets a command that was yielded, or is a branch. */
  take(yielded: unknown): void {
    if (yielded === this.#last) {
      this.#last = undefined;
    } else if (this.#others.delete(yielded as Command<unknown>)) {
      this.#questions.delete(yielded as Command<unknown>);
    }
  }

  /** Forgets a command that is dropped on purpose, with its branches. */
  ignore(dropped: Command<unknown>): void {
    this.take(dropped);
    for (const part of partsOf(specOf(dropped))) this.ignore(part);
  }

  /** Passes the commands of the branches of an ended group on to its parent. */
  joinGroup({ fibers, parent }: Group): void {
    this.#reassign((creator) => (fibers.includes(creator) ? parent : creator));
  }

  /** Forgets the commands of a branch. */
  forget(branch: Fiber): void {
    this.#reassign((creator) => (creator === branch ? undefined : creator));
  }

  #reassign(change: (creator: Fiber) => Fiber | undefined): void {
    if (this.#last === undefined && this.#others.size === 0) return;
    for (const [command, creator] of this.#left()) {
      if (creator === undefined) continue;
      const next = change(creator);
      if (next === creator) continue;
      if (next === undefined) this.take(command);
      else if (command === this.#last) this.#lastCreator = next;
      else this.#others.set(command, next);
    }
  }

  /** The commands that wait for their `yield*`, in the order of creation. */
  #left(): (readonly [Command<unknown>, Fiber | undefined])[] {
    return this.#last === undefined
      ? [...this.#others]
      : [...this.#others, [this.#last, this.#lastCreator]];
  }

  /**
   * Error for an effect before which its branch, or a branch around it, created a question that it
   * has not asked. A branch that is being ended cannot ask, and cleans up.
   */
  questionBefore(branch: Fiber, path: string): AuthoringError | undefined {
    const hasLast = asksSomebody(specOf(this.#last));
    if ((!hasLast && this.#questions.size === 0) || branch.isEnding) return undefined;
    for (const question of this.#questions) {
      if (isAround(this.#others.get(question), branch)) return unasked(question, path);
    }
    return hasLast && isAround(this.#lastCreator, branch) ? unasked(this.#last, path) : undefined;
  }

  /** The commands left when the body has returned, without the parts of other such commands. */
  get leftAtEnd(): { readonly lost: readonly string[]; readonly harmless: readonly string[] } {
    const specs = this.#left().flatMap(([command]) => specOf(command) ?? []);
    const parts = new Set(specs.flatMap(partsOf).map(specOf));
    const whole = specs.filter((spec) => !parts.has(spec));
    return {
      lost: codesOf(whole.filter((spec) => !isHarmless(spec))),
      harmless: codesOf(whole.filter(isHarmless)),
    };
  }
}

/** The commands among the branches of a group, or in a scope. Helpers have created nothing yet. */
function partsOf(spec: CommandSpec | undefined): readonly Command<unknown>[] {
  const steps =
    spec !== undefined && 'branches' in spec
      ? spec.branches.map((branch) => branch.steps)
      : spec?.kind === 'scope'
        ? [spec.steps]
        : [];
  return steps.filter((part) => specOf(part) !== undefined) as readonly Command<unknown>[];
}

/** `true` if `outer` is `branch`, or waits for it. The whole body surrounds every branch. */
function isAround(outer: Fiber | undefined, branch: Fiber): boolean {
  if (outer === undefined || outer === branch) return true;
  const parent = branch.group?.parent;
  return parent !== undefined && isAround(outer, parent);
}

/** `true` for a question to a person, a model, or another system. Roots decide nothing. */
function asksSomebody(spec: CommandSpec | undefined): boolean {
  if (spec === undefined) return false;
  if (spec.kind === 'scope') return spec.question !== undefined;
  return hasDescriptor(spec) && spec.kind !== 'roots' && effectOf(spec).question !== undefined;
}

/** `true` for a command that only reads, reports, or waits: a result is true without it. */
function isHarmless(spec: CommandSpec): boolean {
  if (hasDescriptor(spec)) return onlyReads(spec) || (!isEffect({ spec }) && spec.kind !== 'call');
  // `patched` does harm: a condition on a command is always true, so without `yield*`, every saga
  // takes the new path.
  return ['progress', 'log', 'completeUrl'].includes(spec.kind);
}

function unasked(command: unknown, path: string): AuthoringError {
  const question = specOf(command) as CommandSpec;
  return new AuthoringError(
    `'${path}' did not run, because the saga created ${toCode(question)} before it, but never yielded it: nobody was asked. ` +
      `Create the question where you yield it, yield* ${toCode(question)}, or wrap it: () => ${nameOf(question)}(…). ` +
      ifDropped,
    { code: 'never_yielded' },
  );
}

/** Error for a saga whose result does not account for some commands. */
export function neverYielded(saga: string, lost: readonly string[]): AuthoringError {
  return new AuthoringError(`${toldOf(saga, lost)} ${ifDropped}`, { code: 'never_yielded' });
}

const ifDropped = 'If one is dropped on purpose, pass it to ignore().';

/** Says that commands did not run, with the code to write. */
export function toldOf(saga: string, codes: readonly string[]): string {
  const [it, they] = codes.length === 1 ? ['it', 'it'] : ['them', 'they'];
  return (
    `Saga '${saga}' created ${codes.join(' and ')}, but never yielded ${it}, so ${they} did not run. ` +
    `Write: ${codes.map((code) => `yield* ${code}`).join(', ')}.`
  );
}

/** The code that created each command, without repetitions. */
function codesOf(specs: readonly CommandSpec[]): readonly string[] {
  return [...new Set(specs.map(toCode))];
}

const withoutArguments: ReadonlySet<string> = new Set(['now', 'random', 'uuid', 'info']);

function toCode(spec: CommandSpec): string {
  if (withoutArguments.has(spec.kind)) return `${spec.kind}()`;
  // A command that takes no ID has the name of its function.
  const hasId = 'id' in spec && spec.id !== spec.kind;
  return hasId ? `${nameOf(spec)}('${spec.id}')` : `${nameOf(spec)}(…)`;
}

/** Name of the function that created a command. */
function nameOf(spec: CommandSpec): string {
  if (spec.kind === 'roots') return 'listRoots';
  if (spec.kind === 'scope') return spec.question ?? 'scope';
  return spec.kind === 'elicit' && spec.asOutcome ? 'elicit.outcome' : spec.kind;
}
