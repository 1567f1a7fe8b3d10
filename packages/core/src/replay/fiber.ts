import { fingerprintOf, type EffectSpec } from '../effects/effect-of.ts';
import type { EffectTask } from '../effects/parts/effect.ts';
import type { Answerer } from '../model/answerer.ts';
import type { GroupSpec, Command } from '../model/command.ts';
import type { Route } from '../model/question.ts';
import { endGenerator, resumeHelper } from './end-generator.ts';
import { fingerprint } from '../values/fingerprint.ts';
import { undoMark, type Scope } from '../values/path.ts';

/** What a turn, and its token, know of the attempts of a step. Shared by generators and machines. */
export interface Attempts {
  attempts: number;
  /** Earliest time of the next attempt (ms since the epoch). */
  notBefore: number;
  /**
   * `true` for a wait since an earlier turn, or until a date: compared with the time of the
   * answers.
   */
  isEarlier: boolean;
  /** `true` if the effect of an earlier attempt may have happened. */
  unknown: boolean;
  /** Number of the interrupted turn that may have executed the step, and steps after it. */
  interruptedTurn?: number | undefined;
}

/** A command that waits for its outcome. */
export interface Task extends EffectTask<EffectSpec>, Attempts {
  readonly fingerprint: number;
  readonly fiber: Fiber;
  /** Route of a question in this turn, once chosen. */
  route: Route | undefined;
  /** Aborts the running code. Undefined if the task does not run. */
  running: AbortController | undefined;
  /** Number of outcomes that the body had received at the time of issue. */
  issuedAfter: number;
  /** Due time: a sleep ends, or a poll asks again. */
  until: number | undefined;
  /** `true` if the branch is being ended: the outcome is recorded, but not delivered. */
  discarded: boolean;
}

/** Task for a newly issued command of `fiber`. */
export function newTask(fiber: Fiber, spec: EffectSpec, path: string): Task {
  return {
    spec,
    path,
    fingerprint: fingerprintOf(spec),
    fiber,
    input: undefined,
    route: undefined,
    running: undefined,
    retry: undefined,
    issuedAfter: 0,
    attempts: 0,
    notBefore: 0,
    since: undefined,
    until: undefined,
    isEarlier: false,
    asked: 0,
    unknown: false,
    interruptedTurn: undefined,
    discarded: false,
  };
}

/** Notes a failed attempt that another turn retries. */
export function noteAttempts(step: Attempts, value: unknown): void {
  [step.attempts, step.notBefore, step.unknown, step.interruptedTurn] = value as [
    attempts: number,
    notBefore: number,
    unknown: boolean,
    interruptedTurn?: number,
  ];
  step.isEarlier = false;
}

/** The pending steps of lists, whose outcomes one entry of the journal may make unknown. */
export function listedSteps(pending: ReadonlyMap<string, Task>): readonly Task[] {
  return [...pending.values()].filter(
    ({ spec, path, fiber, discarded }) =>
      spec.kind === 'step' && fiber.isInList && !discarded && !path.startsWith(undoMark),
  );
}

/** Identifies steps by their paths, so that a replay finds out if the code has other ones. */
export function digestOfSteps(steps: readonly Task[]): number {
  return fingerprint(...steps.map(({ path }) => path).toSorted());
}

/**
 * Gives steps an unknown outcome, as the journal notes with one entry.
 * @param turn - number of the interrupted turn, if it may have executed steps after them; else 0
 */
export function suspect(steps: readonly Task[], turn: number): void {
  for (const task of steps) {
    task.unknown = true;
    if (turn !== 0) task.interruptedTurn ??= turn;
  }
}

export type Resumption = 'next' | 'throw' | 'return';

/** A running generator: the body, or a branch. */
export class Fiber {
  readonly iterator: Iterator<Command<unknown>, unknown, unknown>;
  readonly scope: Scope;
  /** Group of the branch. The body has no group. */
  readonly group: Group | undefined;
  /** Position in the group. */
  readonly index: number;
  /** Innermost group around the fiber that limits its steps. */
  readonly limiter: Group | undefined;
  /** `true` in a list, whatever its limit, which may change while the saga waits. */
  readonly isInList: boolean;
  /**
   * Who may answer the questions of the called saga around this fiber. Undefined: the program
   * decides.
   */
  readonly answeredBy: readonly Answerer[] | undefined;
  waiting: Task | Group | undefined;
  queued: { fiber: Fiber; how: Resumption; value: unknown; dropped: boolean } | undefined;
  started = false;
  ended = false;
  /** `true` once the branch was told to end. `finally` blocks may still run. */
  closing = false;
  /** `true` once the generator was told to end. */
  toldToEnd = false;
  /** Innermost generator, delegated to by `yield*`, whose `finally` runs. */
  helper: unknown;
  /** `true` if helpers cannot be distinguished from callers. */
  isOpaque = false;
  /**
   * `true` if a `finally` was exited by `break`, `continue`, or `return`, so that code ran after
   * it.
   */
  goesOn = false;
  /** Paths of the steps done since the fiber was told to end. */
  readonly lastSteps: string[] = [];
  /** `true` for an undo, which must not ask the client. */
  serverOnly = false;
  /** Number of commands yielded since the fiber was told to end. */
  lastWords = 0;

  constructor(
    iterator: Iterator<Command<unknown>, unknown, unknown>,
    scope: Scope,
    group?: Group,
    index: number = 0,
    answeredBy?: readonly Answerer[],
  ) {
    this.iterator = iterator;
    this.scope = scope;
    this.group = group;
    this.index = index;
    this.answeredBy = answeredBy ?? group?.parent.answeredBy;
    this.limiter = group?.limit === undefined ? group?.parent.limiter : group;
    this.isInList = group?.kind === 'each' || group?.parent.isInList === true;
  }

  /** `true` for an undo, or a part of an undo. */
  get undoes(): boolean {
    return this.serverOnly || this.group?.parent.undoes === true;
  }

  /** `true` if the fiber or a parent is ending or undoes: the fiber must not ask the client. */
  get isEnding(): boolean {
    return this.closing || this.serverOnly || this.group?.parent.isEnding === true;
  }
}

/** Branches that run in parallel, and the fiber that waits for them. */
export class Group {
  readonly kind: GroupSpec['kind'] | 'scope' | 'call';
  readonly parent: Fiber;
  readonly keys: readonly string[];
  readonly shape: 'record' | 'array';
  /** Number of steps of all branches that run at the same time. Undefined: without a limit. */
  readonly limit: number | undefined;
  fibers: readonly Fiber[] = [];
  readonly results: unknown[];
  open: number;
  failure: { readonly error: unknown } | undefined;
  /**
   * `true` if the parent was told to end while waiting for the group. A group of a `finally`
   * resumes the parent.
   */
  endsParent = false;
  won: { readonly winner: string; readonly value: unknown } | undefined;

  constructor(
    parent: Fiber,
    kind: Group['kind'],
    keys: readonly string[],
    shape: 'record' | 'array',
    limit?: number,
  ) {
    this.parent = parent;
    this.kind = kind;
    this.keys = keys;
    this.shape = shape;
    this.limit = limit;
    this.open = keys.length;
    this.results = keys.map(() => undefined);
  }

  result(): unknown {
    if (this.kind === 'scope' || this.kind === 'call') return this.results[0];
    if (this.kind === 'race') return this.won;
    if (this.shape === 'array') return this.results;
    // Defines own properties, also for the key `__proto__`.
    return Object.fromEntries(this.keys.map((key, index) => [key, this.results[index]]));
  }
}

export function advanceFiber(
  fiber: Fiber,
  how: Resumption,
  value: unknown,
): IteratorResult<Command<unknown>, unknown> {
  const { iterator } = fiber;
  if (how !== 'return' && fiber.helper !== undefined) return resumeHelper(fiber, how, value);
  if (how === 'next') return iterator.next(value);
  if (how === 'throw' && iterator.throw !== undefined) return iterator.throw(value);
  if (how === 'return' && iterator.return !== undefined) return endGenerator(fiber);
  if (how === 'throw') throw value;
  return { done: true, value: undefined };
}
