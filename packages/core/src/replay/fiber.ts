import { fingerprintOf, type EffectSpec } from '../effects/effect-of.ts';
import type { EffectTask } from '../effects/parts/effect.ts';
import type { GroupSpec, Command } from '../model/command.ts';
import type { Route } from '../model/question.ts';
import { endGenerator, resumeHelper } from './end-generator.ts';
import type { Scope } from '../values/path.ts';

/** A command that waits for its outcome. */
export interface Task extends EffectTask<EffectSpec> {
  readonly fingerprint: number;
  readonly fiber: Fiber;
  /** Where it goes in this turn, if it is a question and that has been asked. */
  route: Route | undefined;
  /** Set while it runs here. */
  running: AbortController | undefined;
  /** Number of outcomes that the body had received when it issued the command. */
  issuedAfter: number;
  /** Not to be tried before (ms since the epoch). */
  notBefore: number;
  /** When it was first asked (ms since the epoch). */
  since: number | undefined;
  /** When it is due: a sleep ends, a poll asks again. */
  until: number | undefined;
  /** `true` if it waits since an earlier turn, or until a date: its times are compared with the time of the answers. */
  isEarlier: boolean;
  interruptedTurn: number | undefined;
  /** Its branch is being ended: what becomes of it is recorded, and not delivered. */
  discarded: boolean;
}

/** A command of `fiber` that has just been issued. */
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

/** An attempt failed, and the next one comes in another turn. */
export function tried(task: Task, value: unknown): void {
  [task.attempts, task.notBefore, task.unknown, task.interruptedTurn] = value as [
    attempts: number,
    notBefore: number,
    unknown: boolean,
    interruptedTurn?: number,
  ];
  task.isEarlier = false;
}

/** How a fiber is to be resumed. */
export type Resumption = 'next' | 'throw' | 'return';

/** One generator in motion: the body, or a branch of it. */
export class Fiber {
  readonly iterator: Iterator<Command<unknown>, unknown, unknown>;
  readonly scope: Scope;
  /** The group it is a branch of; the body has none. */
  readonly group: Group | undefined;
  /** What it waits for. */
  waiting: Task | Group | undefined;
  /** The resumption that is queued for it. */
  queued: { fiber: Fiber; how: Resumption; value: unknown; dropped: boolean } | undefined;
  started = false;
  ended = false;
  /** It was told to end; its `finally` blocks may still run. */
  closing = false;
  /** `true` once its generator was told to end. */
  toldToEnd = false;
  /** Innermost generator that it delegates to by `yield*`, if the `finally` of that generator runs. */
  helper: unknown;
  /** `true` if helpers cannot be told from their callers. */
  isOpaque = false;
  /** `true` if a `finally` was exited by `break`, `continue`, or `return`, so that code ran behind it. */
  goesOn = false;
  /** Paths of the steps done since it was told to end. */
  readonly lastSteps: string[] = [];
  /** It undoes: nothing in it may ask the client. */
  serverOnly = false;
  /** Commands yielded since it was told to end. */
  lastWords = 0;

  constructor(iterator: Iterator<Command<unknown>, unknown, unknown>, scope: Scope, group?: Group) {
    this.iterator = iterator;
    this.scope = scope;
    this.group = group;
  }

  /** Whether it is an undo, or a part of one. */
  get undoes(): boolean {
    return this.serverOnly || this.group?.parent.undoes === true;
  }

  /** Whether it, or what it belongs to, was told to end, or undoes: the client is asked nothing any more. */
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
  readonly fibers: Fiber[] = [];
  readonly results: unknown[] = [];
  open: number;
  failure: { readonly error: unknown } | undefined;
  /** `true` if its parent was told to end while it waited for this group. A group of a `finally` resumes its parent. */
  endsParent = false;
  /** The branch that won a race. */
  won: { readonly winner: string; readonly value: unknown } | undefined;

  constructor(parent: Fiber, kind: Group['kind'], keys: readonly string[], shape: 'record' | 'array') {
    this.parent = parent;
    this.kind = kind;
    this.keys = keys;
    this.shape = shape;
    this.open = keys.length;
  }

  /** The results in the shape that was asked for. */
  result(): unknown {
    if (this.kind === 'scope' || this.kind === 'call') return this.results[0];
    if (this.kind === 'race') return this.won;
    if (this.shape === 'array') return this.results;
    const record: Record<string, unknown> = {};
    for (const [index, key] of this.keys.entries()) {
      Object.defineProperty(record, key, {
        value: this.results[index],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return record;
  }
}

/** Resumes a fiber's generator. */
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
