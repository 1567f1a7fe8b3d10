import type { AnyActorRef } from 'xstate';
import type { WaitingActor } from '../model/machine-view.ts';

type Waiting = Readonly<{ self: AnyActorRef } & Record<'resolve' | 'reject', (value: unknown) => void>>;

/** Actors that wait for a result of the person at the page. */
export class WaitingActors {
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;

  add(waiting: Waiting): void {
    // XState counts the actors of all runs, but the same steps must find the same actor.
    this.#waiting.set(String((this.#count += 1)), waiting);
  }

  /** Active actors, in the order of their start. */
  list(): readonly WaitingActor[] {
    return [...this.#waiting]
      .filter(([, { self }]) => self.getSnapshot().status === 'active')
      .map(([id, { self }]) => ({ id, name: nameOf(self) }));
  }

  /** Gives an active actor its result, and returns the name of the actor. */
  settle(id: string, how: 'resolve' | 'reject', value: unknown): string {
    const actor = this.list().find((each) => each.id === id);
    if (actor === undefined) throw new Error('The actor has ended already.');
    const { [how]: end } = this.#waiting.get(id) as Waiting;
    this.#waiting.delete(id);
    end(value);
    return actor.name;
  }
}

/** Names an actor. XState generates the ID of an invoke without one from its place. */
export function nameOf({ id }: AnyActorRef): string {
  return id.replace(/^\d+\./, 'invoke of ');
}
