import { specOf } from '../effects/effect-of.ts';
import type { Command, GroupSpec } from '../model/command.ts';
import type { FiberEnd } from '../undo/ending.ts';
import { Fiber, Group, type Resumption, type Task } from './fiber.ts';
import type { Scope } from '../values/path.ts';

/** What branches need of the execution they belong to. */
export interface BranchHost {
  resume(fiber: Fiber, how: Resumption, value: unknown): void;
  withdraw(task: Task): boolean;
}

/** Starts the branches of a group; a group without branches is done at once. */
export function forkBranches(host: BranchHost, parent: Fiber, spec: GroupSpec): Group {
  const keys = spec.branches.map((branch) => branch.key);
  const group = new Group(parent, spec.kind, keys, spec.shape);
  for (const { key, steps } of spec.branches) {
    // A single command keeps its own id, numbered among those around it: branches start in order, so that the
    // number does not depend on which of them is done first.
    const inner = specOf(steps);
    const single = inner !== undefined && !('branches' in inner);
    group.fibers.push(
      new Fiber(steps[Symbol.iterator](), single ? parent.scope : parent.scope.below(key), group),
    );
  }
  if (group.open > 0) parent.waiting = group;
  for (const branch of group.fibers) host.resume(branch, 'next', undefined);
  return group;
}

/** Starts a single branch in a scope of its own, and lets its parent wait for it. */
export function nestBranch(
  host: BranchHost,
  parent: Fiber,
  kind: 'scope' | 'call',
  iterator: Iterator<Command<unknown>, unknown, unknown>,
  scope: Scope,
): void {
  const group = new Group(parent, kind, [''], 'array');
  const branch = new Fiber(iterator, scope, group);
  group.fibers.push(branch);
  parent.waiting = group;
  host.resume(branch, 'next', undefined);
}

/** A branch has ended; the last one of a group resumes the parent. (U3) */
export function endBranch(host: BranchHost, branch: Fiber, group: Group, end: FiberEnd): void {
  branch.ended = true;
  group.open -= 1;
  // How a branch ends that was told to end is nobody's news.
  if (!branch.closing) {
    const index = group.fibers.indexOf(branch);
    if (group.kind === 'allSettled') {
      group.results[index] =
        'error' in end
          ? { status: 'rejected', reason: end.error }
          : { status: 'fulfilled', value: end.result };
    } else if ('error' in end) {
      group.failure = end;
      for (const sibling of group.fibers) closeBranch(host, sibling);
    } else if (group.kind === 'race') {
      group.won = { winner: group.keys[index] as string, value: end.result };
      for (const sibling of group.fibers) closeBranch(host, sibling);
    } else {
      group.results[index] = end.result;
    }
  }
  const { parent } = group;
  if (group.open > 0 || parent.waiting !== group) return;
  parent.waiting = undefined;
  if (group.endsParent) host.resume(parent, 'return', undefined);
  else if (group.failure !== undefined) host.resume(parent, 'throw', group.failure.error);
  else host.resume(parent, 'next', group.result());
}

/** Tells a branch to end: what runs in it is aborted and awaited, what it asks is withdrawn, its `finally` runs. */
export function closeBranch(host: BranchHost, branch: Fiber): void {
  if (branch.ended || branch.closing) return;
  branch.closing = true;
  if (branch.queued !== undefined) branch.queued.dropped = true;
  const { waiting, group } = branch;
  if (!branch.started && group !== undefined) {
    endBranch(host, branch, group, { result: undefined });
  } else if (waiting instanceof Group) {
    waiting.endsParent = true;
    for (const inner of waiting.fibers) closeBranch(host, inner);
  } else if (waiting === undefined || host.withdraw(waiting)) {
    host.resume(branch, 'return', undefined);
  }
}
