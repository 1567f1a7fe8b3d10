import { AsyncLocalStorage } from 'node:async_hooks';
import { present } from '@mcp-saga/core/program';
import type { SagaTelemetry } from '@mcp-saga/server';
import type { TracedTurn, TurnSpan } from '@mcp-saga/server/internal';
import type { SeenEvent, SeenRejection, SeenSaga, SeenTurn, StudioState } from './seen-turns.ts';

/** Facts about the current request. */
export type RequestFacts = Readonly<{ client?: string; request?: string }>;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type Turn = Mutable<SeenTurn> & { events: Mutable<SeenEvent>[] };

type SagaFacts = Pick<TracedTurn, 'sagaId' | 'saga' | 'version' | 'method'>;

type Saga = Readonly<{ facts: SagaFacts; first: RequestFacts; turns: Turn[] }>;

/** Saga with its turns, as plain data. */
export type KeptSaga = Readonly<{
  facts: SagaFacts;
  first: RequestFacts;
  turns: readonly SeenTurn[];
}>;

type OnSagaChange = (sagaId: string, saga: KeptSaga | undefined) => void;

/** Request and turn of the running code. */
type Running = RequestFacts & { readonly sagaId?: string; turn?: Turn };

const maxTurns = 200; // the first, which has the arguments, and the newest
const maxEvents = 500;

/**
 * Keeps the newest turns of a process in memory, by saga. Holds no values but those of `explain`,
 * no tokens, and no keys.
 */
export class TurnFeed {
  readonly #sagas = new Map<string, Saga>();
  readonly #rejections: SeenRejection[] = [];
  readonly #maxSagas: number;
  /** Called when a turn ends without a response. */
  onRejected: ((facts: TracedTurn, turn: SeenTurn) => void) | undefined;
  readonly #running = new AsyncLocalStorage<Running>();
  // Higher than the revisions of an earlier process, whose page may still be open.
  #revision = Date.now();
  /** Called soon after a change of a saga, with its turns; undefined for a forgotten saga. */
  readonly #onChange: OnSagaChange | undefined;
  readonly #changed = new Set<string>();

  constructor(maxSagas: number, onChange?: OnSagaChange) {
    this.#maxSagas = maxSagas;
    this.#onChange = onChange;
  }

  /** Adds the sagas of a process that was killed, oldest first. */
  restore(sagas: readonly KeptSaga[]): void {
    for (const { facts, first, turns } of sagas)
      this.#sagas.set(facts.sagaId, { facts, first, turns: turns.map(afterKill) });
  }

  /** Runs `work` as part of a request. */
  observe<T>(request: RequestFacts, work: () => T): T {
    return this.#running.run(request, work);
  }

  /** Marks the state as changed. */
  touch(): void {
    this.#revision += 1;
  }

  /** Observes the turns of a host. All facts also reach `inner`. */
  telemetry(inner?: SagaTelemetry): SagaTelemetry {
    return {
      turn: (facts) => this.#observed(facts, this.#begin(facts), inner?.turn(facts)),
      refused: (rejection) => {
        const { request } = this.#running.getStore() ?? {};
        this.#rejections.unshift({ reason: rejection.reason, ...present({ request }) });
        this.#rejections.splice(20);
        this.touch();
        inner?.refused(rejection);
      },
    };
  }

  /**
   * Adds facts to the turn of the running code. Only for a developer. Forks may run the same turn
   * at once.
   */
  explain(facts: Partial<SeenTurn>): void {
    Object.assign(this.#running.getStore()?.turn ?? {}, facts);
  }

  /** Adds a message, or a link, to the turn of the running code. Only for a developer. */
  report(facts: Pick<SeenEvent, 'id' | 'value' | 'url' | 'deadline'>): void {
    const { turn } = this.#running.getStore() ?? {};
    // Messages leave room for steps.
    if (turn !== undefined && turn.events.length < maxEvents / 2)
      this.#add(turn, { ...facts, kind: 'told', type: 'told' });
  }

  /** Returns the newest event in the turn of the running code, to add facts. */
  newestEvent(): Partial<Mutable<SeenEvent>> {
    const { events = [] } = this.#running.getStore()?.turn ?? {};
    return (events.length < maxEvents ? events.at(-1) : undefined) ?? {};
  }

  /** Returns all sagas, and the turns of one of them. */
  state(sagaId: string | null): StudioState {
    return {
      revision: this.#revision,
      seen: [...this.#sagas.values()].toReversed().map(toSeenSaga),
      rejections: this.#rejections,
      turns: this.#sagas.get(sagaId ?? '')?.turns ?? [],
    };
  }

  #begin(facts: TracedTurn): Turn {
    const { sagaId, turn, action } = facts;
    const running = this.#running.getStore();
    const given = present({ client: running?.client, request: running?.request });
    const saga = this.#sagas.get(sagaId) ?? { facts, first: given, turns: [] };
    const empty = { events: [], asked: [], tokenBytes: 0 };
    const begun: Turn = {
      turn,
      action,
      status: 'running',
      startedAt: Date.now(),
      ...empty,
      ...given,
      ...(this.#onChange !== undefined && { process: process.pid }),
    };
    saga.turns.push(begun);
    // After a commit, the code of a turn continues in the next one.
    if (running?.sagaId === sagaId) running.turn = begun;
    if (saga.turns.length > maxTurns) saga.turns.splice(1, 1);
    // Moves to the end, which is the newest place.
    this.#sagas.delete(sagaId);
    this.#sagas.set(sagaId, saga);
    const [oldest] = this.#sagas.keys();
    if (this.#sagas.size > this.#maxSagas && oldest !== undefined) {
      this.#sagas.delete(oldest);
      this.#onChange?.(oldest, undefined);
    }
    this.#touchSaga(sagaId);
    return begun;
  }

  #observed(facts: TracedTurn, turn: Turn, inner: TurnSpan | undefined): TurnSpan {
    return {
      get parent() {
        return inner?.parent;
      },
      within: (work) =>
        this.#running.run({ ...this.#running.getStore(), sagaId: facts.sagaId, turn }, () =>
          inner === undefined ? work() : inner.within(work),
        ),
      event: (event) => {
        const { type, kind, stepId: id, errorType } = event;
        if (type === 'answered' || type === 'passed')
          this.#add(turn, { id, kind, type, ...present({ errorType }) });
        this.#touchSaga(facts.sagaId);
        inner?.event(event);
      },
      step: (step) => {
        const { stepId: id, kind, attempt } = step;
        const event = this.#add(turn, {
          id,
          kind,
          attempt,
          type: 'running',
          startedAt: Date.now(),
        });
        this.#touchSaga(facts.sagaId);
        const span = inner?.step(step);
        return {
          within: (work) => (span === undefined ? work() : span.within(work)),
          end: (stepError) => {
            event.type = stepError === undefined ? 'succeeded' : 'failed';
            event.durationMs = Date.now() - (event.startedAt ?? 0);
            if (stepError !== undefined) event.errorType = stepError;
            this.#touchSaga(facts.sagaId);
            span?.end(stepError);
          },
        };
      },
      end: (end) => {
        const { isFault: _, ...ended } = end;
        // `explain` has the whole IDs of uncompensated steps.
        const { uncompensated = ended.uncompensated } = turn;
        Object.assign(turn, ended, present({ uncompensated }), {
          durationMs: Date.now() - turn.startedAt,
        });
        this.#touchSaga(facts.sagaId);
        if (end.status === 'rejected') this.onRejected?.(facts, turn);
        inner?.end(end);
      },
    };
  }

  /** Marks a saga as changed. Facts that the code adds at once are part of the change. */
  #touchSaga(sagaId: string): void {
    this.touch();
    if (this.#onChange === undefined || this.#changed.has(sagaId)) return;
    this.#changed.add(sagaId);
    setImmediate(() => {
      this.#changed.delete(sagaId);
      const saga = this.#sagas.get(sagaId);
      if (saga === undefined) return;
      const { facts, first, turns } = saga;
      const { saga: name, version, method } = facts;
      this.#onChange?.(sagaId, { facts: { sagaId, saga: name, version, method }, first, turns });
    });
  }

  #add(turn: Turn, event: SeenEvent): Mutable<SeenEvent> {
    const added = { ...event };
    if (turn.events.length < maxEvents) turn.events.push(added);
    this.touch();
    return added;
  }
}

/** Ends a turn that ran when its process was killed. */
function afterKill({ events, ...turn }: SeenTurn): Turn {
  const kept = { ...turn, events: events.map((event) => ({ ...event })) };
  if (turn.status !== 'running') return kept;
  const ends = events.map(({ startedAt = 0, durationMs = 0 }) => startedAt + durationMs);
  const durationMs = Math.max(turn.startedAt, ...ends) - turn.startedAt;
  return { ...kept, status: 'rejected', errorType: 'process_killed', durationMs };
}

function toSeenSaga({ facts, first, turns }: Saga): SeenSaga {
  const { sagaId, saga, version, method } = facts;
  const { turn = 0, status = 'running' } = turns.at(-1) ?? {};
  return {
    sagaId,
    saga,
    version,
    method,
    turn,
    status,
    startedAt: turns[0]?.startedAt ?? 0,
    ...first,
  };
}
