import type { Group, Task } from '../replay/fiber.ts';

interface Queued {
  readonly task: Task;
  /** Position of the item around the task. */
  readonly item: number;
}

/**
 * Bounds the number of tasks that run at the same time in a group with a limit, and in each such
 * group around it.
 *
 * - A queued task has not started and is not recorded, as if its branch had not reached it. A turn
 *   never ends with one, because the end of each task of the group frees a slot, and then all
 *   queued tasks are candidates.
 * - The first item goes first, so that a branch that has begun ends before the next one begins.
 */
export class Slots {
  readonly #taken = new Map<Group, number>();
  /** Tasks that wait for a slot, by their outermost group, in the order of items. */
  readonly #queues = new Map<Group, Queued[]>();

  /**
   * Yields the idle tasks that may start now. The caller takes a slot for each that it starts before
   * it asks for the next. Tasks without a slot leave `idle` until a slot is free.
   * @param isLimited - `true` for a task that runs code of the server
   * @param isPending - `false` for a task that was withdrawn while it waited
   * @param held - receives each task that begins to wait for a slot
   */
  *candidates(
    idle: Set<Task>,
    isLimited: (task: Task) => boolean,
    isPending: (task: Task) => boolean,
    held: (task: Task) => void,
  ): Generator<Task> {
    for (const task of idle) {
      const { limiter } = task.fiber;
      if (limiter === undefined || !isLimited(task)) yield task;
      else {
        held(task);
        this.#queue(task, limiter, idle);
      }
    }
    for (const [group, queue] of this.#queues) {
      for (let at = 0; at < queue.length && !this.#isFull(group);) {
        const { task } = queue[at] as Queued;
        if (!isPending(task)) {
          queue.splice(at, 1);
        } else if (groupsAround(task).some((one) => this.#isFull(one))) {
          at += 1;
        } else {
          queue.splice(at, 1);
          idle.add(task);
          yield task;
        }
      }
      if (queue.length === 0) this.#queues.delete(group);
    }
  }

  take(task: Task): void {
    this.#change(task, 1);
  }

  free(task: Task): void {
    this.#change(task, -1);
  }

  #change(task: Task, by: number): void {
    for (const group of groupsAround(task))
      this.#taken.set(group, (this.#taken.get(group) ?? 0) + by);
  }

  #queue(task: Task, limiter: Group, idle: Set<Task>): void {
    idle.delete(task);
    const outermost = groupsAround(task).at(-1) ?? limiter;
    const item = itemIn(outermost, task);
    const queue = this.#queues.get(outermost) ?? [];
    this.#queues.set(outermost, queue);
    let at = queue.length;
    while (at > 0 && (queue[at - 1] as Queued).item > item) at -= 1;
    queue.splice(at, 0, { task, item });
  }

  #isFull(group: Group): boolean {
    return (this.#taken.get(group) ?? 0) >= (group.limit ?? Number.POSITIVE_INFINITY);
  }
}

/** Groups with a limit around a task, the innermost first. */
function groupsAround({ fiber }: Task): readonly Group[] {
  const groups: Group[] = [];
  for (let { limiter } = fiber; limiter !== undefined; limiter = limiter.parent.limiter)
    groups.push(limiter);
  return groups;
}

/** Position of the branch of `group` that a task is in. */
function itemIn(group: Group, task: Task): number {
  let { fiber } = task;
  while (fiber.group !== undefined && fiber.group !== group) fiber = fiber.group.parent;
  return fiber.index;
}
