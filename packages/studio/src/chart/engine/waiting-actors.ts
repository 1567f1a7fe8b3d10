import type { AnyActor, AnyActorRef } from 'xstate';
import type { WaitingActor } from '../model/machine-view.ts';

type Waiting = Readonly<
  { self: AnyActorRef } & Record<'resolve' | 'reject', (value: unknown) => void>
>;

/** Actors that wait for a result of the person at the page. */
export class WaitingActors {
  /** All actors of the page, in the order of their start, which is the same for the same steps. */
  readonly started: AnyActor[] = [];
  readonly waiting: Waiting[] = [];

  /** Lists active actors of the page. The code can start other actors. */
  list(): readonly WaitingActor[] {
    return this.waiting.flatMap(({ self }, index) => {
      const isActive =
        this.started.includes(self as AnyActor) && self.getSnapshot().status === 'active';
      return isActive ? [{ id: String(index), name: nameOf(self) }] : [];
    });
  }

  /** Gives an active actor its result, and returns the name of the actor. */
  settle(id: string, how: 'resolve' | 'reject', value: unknown): string {
    const actor = this.list().find((each) => each.id === id);
    if (actor === undefined) throw new Error('No such actor waits.');
    const isWhole = how === 'resolve' || Object(value) === value;
    const result = isWhole ? value : new Error((value ?? 'Rejected at the page.') as string);
    this.waiting[Number(id)]?.[how](result);
    return actor.name;
  }
}

/** Names an actor. XState generates the ID of an invoke without one from its place. */
export function nameOf({ id }: AnyActorRef): string {
  return id.replace(/^\d+\./, 'invoke of ');
}
