import type { WaitingActor } from '../model/machine-view.ts';

/** Actor as far as the page shows it. */
export interface Self {
  readonly id: string;
  getSnapshot(): { readonly status: string };
  send(event: never): void;
}

interface Waiting {
  readonly self: Self;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

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
      .filter(([, waiting]) => isActive(waiting))
      .map(([id, { self }]) => ({ id, name: nameOf(self) }));
  }

  settle(id: string, how: 'resolve' | 'reject', value: unknown): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || !isActive(waiting)) throw new Error('The actor has ended already.');
    this.#waiting.delete(id);
    waiting[how](value);
  }
}

/** Names an actor. XState generates the ID of an invoke without one from its place. */
export function nameOf({ id }: Pick<Self, 'id'>): string {
  return id.replace(/^\d+\./, 'invoke of ');
}

function isActive({ self }: Waiting): boolean {
  return self.getSnapshot().status === 'active';
}
