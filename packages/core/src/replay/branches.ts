import type { Answerer } from '../model/answerer.ts';
import { specOf } from '../effects/make-command.ts';
import type { Command, GroupSpec } from '../model/command.ts';
import type { FiberEnd } from '../undo/ending.ts';
import type { CreatedCommands } from './created-commands.ts';
import { Fiber, Group, type Resumption, type Task } from './fiber.ts';
import { branchPrefix, Scope } from '../values/path.ts';

export interface BranchHost {
  readonly created: Pick<CreatedCommands, 'forget' | 'joinGroup'>;
  resume(fiber: Fiber, how: Resumption, value: unknown): void;
  withdraw(task: Task): boolean;
}

/** Starts the branches of a group. Ends a group without branches at once. */
export function forkBranches(host: BranchHost, parent: Fiber, spec: GroupSpec): Group {
  const keys = spec.branches.map((branch) => branch.key);
  const group = new Group(parent, spec.kind, keys, spec.shape, spec.limit);
  // Once for the whole group: its number must not depend on the items.
  const prefix = spec.kind === 'each' ? parent.scope.path('each') : undefined;
  group.fibers = spec.branches.map(({ key, steps }, index) => {
    if (prefix !== undefined) {
      const scope = new Scope(branchPrefix(prefix, key));
      return new Fiber(steps[Symbol.iterator](), scope, group, index);
    }
    // A single command keeps its ID, numbered like its neighbors. Branches start in order, so the
    // number does not depend on the order of completion.
    const inner = specOf(steps);
    const single = inner !== undefined && !('branches' in inner);
    const scope = single ? parent.scope : parent.scope.below(key);
    return new Fiber(steps[Symbol.iterator](), scope, group, index);
  });
  if (group.open > 0) parent.waiting = group;
  for (const branch of group.fibers) host.resume(branch, 'next', undefined);
  return group;
}

/** Starts a single branch in a scope. The parent waits for the branch. */
export function nestBranch(
  host: BranchHost,
  parent: Fiber,
  kind: 'scope' | 'call',
  iterator: Iterator<Command<unknown>, unknown, unknown>,
  scope: Scope,
  answeredBy?: readonly Answerer[],
): void {
  const group = new Group(parent, kind, [''], 'array');
  const branch = new Fiber(iterator, scope, group, 0, answeredBy);
  group.fibers = [branch];
  parent.waiting = group;
  host.resume(branch, 'next', undefined);
}

/** Ends a branch. The last branch of a group resumes the parent. */
export function endBranch(host: BranchHost, branch: Fiber, group: Group, end: FiberEnd): void {
  branch.ended = true;
  group.open -= 1;
  // It could not reach the `yield*` of the commands that it had built.
  if (branch.closing || 'error' in end) host.created.forget(branch);
  // The result of a closing branch is ignored.
  if (!branch.closing) {
    const { index } = branch;
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
  if (group.failure === undefined) host.created.joinGroup(group);
  else for (const each of group.fibers) host.created.forget(each);
  if (group.endsParent) host.resume(parent, 'return', undefined);
  else if (group.failure !== undefined) host.resume(parent, 'throw', group.failure.error);
  else host.resume(parent, 'next', group.result());
}

/**
 * Closes a branch: aborts and awaits running code, withdraws questions, and runs `finally` blocks.
 */
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
