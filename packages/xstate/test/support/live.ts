import { createActor, type AnyStateMachine } from 'xstate';
import type { LiveActor } from '../../src/model/live-actor.ts';
import { kindOf } from '../../src/adapter/logic-kind.ts';
import { isIn } from '../../src/adapter/survey.ts';
import type { StepEnd } from '../../src/author/step-logic.ts';
import type { WalkWorld } from './walk-world.ts';

interface Waiting {
  readonly at: number;
  readonly act: () => void;
  readonly target: LiveActor | undefined;
}

/**
 * A stock live actor that is never suspended, on a clock of its own: what a saga is compared with.
 */
export class Live {
  readonly root: LiveActor;
  readonly #world: WalkWorld;
  readonly #timers: Waiting[] = [];
  #target: LiveActor | undefined;

  constructor(machine: AnyStateMachine, world: WalkWorld) {
    this.#world = world;
    const clock = {
      setTimeout: (act: () => void, ms: number): Waiting => {
        const timer = { at: Math.ceil(world.time + ms), act, target: this.#target };
        this.#timers.push(timer);
        return timer;
      },
      clearTimeout: (timer: Waiting): void => {
        const index = this.#timers.indexOf(timer);
        if (index !== -1) this.#timers.splice(index, 1);
      },
    };
    const actor = createActor(machine, { clock });
    actor.subscribe({ error: () => undefined });
    this.root = actor as unknown as LiveActor;
    const { scheduler } = this.root.system;
    const schedule = scheduler.schedule.bind(scheduler);
    scheduler.schedule = (source, target, ...rest) => {
      this.#target = target;
      schedule(source, target, ...rest);
    };
    actor.start();
  }

  /**
   * Lets time pass: each timer at its own time, and everything that follows from it before the next
   * one.
   */
  async passTo(time: number): Promise<void> {
    if (!this.#timers.some(({ at }) => at <= this.#world.time)) await this.#world.flush();
    for (;;) {
      const [next] = this.#timers
        .filter(({ at }) => at <= time)
        .toSorted((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#timers.splice(this.#timers.indexOf(next), 1);
      this.#world.time = Math.max(this.#world.time, next.at);
      next.act();
      // Events that are due at the same time precede work that takes time.
      const isLast = !this.#timers.some(({ at }) => at <= this.#world.time);
      if (isLast) await this.#world.flush();
    }
    this.#world.time = time;
  }

  /** When the next timer is due. */
  get due(): number | undefined {
    return this.dues[0];
  }

  /** When all timers are due. */
  get dues(): readonly number[] {
    // An event to an actor that is gone is lost.
    const heard = this.#timers.filter(
      ({ target }) =>
        target !== undefined && target.getSnapshot().status === 'active' && isIn(this.root, target),
    );
    return heard.map(({ at }) => at).toSorted((one, other) => one - other);
  }

  /** The client steps that wait, by path, in the order of the tree. */
  pending(): ReadonlyMap<string, LiveActor> {
    const found = new Map<string, LiveActor>();
    const walk = (actor: LiveActor, prefix: string): void => {
      for (const child of Object.values(actor.getSnapshot().children ?? {})) {
        if (child === undefined || child.getSnapshot().status !== 'active') continue;
        if (kindOf(child.logic) === 'client') found.set(prefix + child.id, child);
        else walk(child, `${prefix}${child.id}/`);
      }
    };
    walk(this.root, '');
    return found;
  }

  answer(actor: LiveActor, end: StepEnd): void {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'mcp-saga.end', end });
  }

  /** The states and contexts of all machines that run. */
  picture(): unknown {
    return pictureOf(this.root);
  }
}

function pictureOf(actor: LiveActor): unknown {
  const { value, context, children = {} } = actor.getSnapshot();
  const machines = Object.entries(children).filter(
    ([, child]) =>
      child !== undefined &&
      kindOf(child.logic) === 'machine' &&
      child.getSnapshot().status === 'active',
  );
  return {
    value,
    context: JSON.parse(JSON.stringify(context)) as unknown,
    machines: Object.fromEntries(
      machines.map(([id, child]) => [id, pictureOf(child as LiveActor)]),
    ),
  };
}
