import {
  keyText,
  present,
  runtimeAfter,
  type ClientAnswer,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
  type SagaEngine,
  type SagaHistory,
} from '@mcp-saga/server/internal';
import { kindOfStep } from '../report/trace-questions.ts';
import { questionKey, type HostFacts, type RecordedEvent } from './recording.ts';
import { toJson } from './recorded-event.ts';
import { thrownToJson } from './recorded-errors.ts';
import { answerEvent } from './recorded-answers.ts';

/** Start of a turn, and its runtime. */
export interface TurnRequest {
  readonly engine: SagaEngine;
  readonly state: ProgramState;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  readonly runtime: Runtime;
  readonly end: EndRequest | undefined;
  /** Called for each turn that ends by a commit, with its outcome. */
  readonly onCommit?: (noted: NotedTurn, outcome: Outcome) => Promise<void>;
}

export interface NotedTurn {
  readonly request: Pick<TurnRequest, 'state' | 'runtime' | 'end'>;
  /** When the turn began, in milliseconds since the epoch. */
  readonly began: number;
  readonly events: readonly RecordedEvent[];
  readonly host: HostFacts;
  /** Journal of a generator that ended. */
  readonly journal?: SagaHistory;
}

type Commit = NonNullable<Runtime['turn']['commit']>;
type CommitPoint = Parameters<Commit>[0];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Takes a turn, and records answers, steps, waits, and questions; of a generator only the journal
 * and questions.
 */
export class TurnRecorder {
  #request: TurnRequest;
  #began: number;
  #events: RecordedEvent[] = [];
  readonly #running = new Set<RecordedEvent>();
  readonly #runs = new Map<string, number>();
  readonly #kinds = new Map<string, string>();
  readonly #paths = new Map<string, string>();
  readonly #routes = new Map<string, ReturnType<Runtime['questions']['route']>>();
  readonly #refused = new Set<string>();
  #claims: boolean[] = [];
  #random: number[] = [];
  #came: readonly RecordedEvent[] = [];
  #ignored: Outcome['ignored'] = [];
  #now: number;
  #over = false;
  #endedAt: ProgramState | undefined;

  constructor(request: TurnRequest) {
    this.#request = request;
    this.#began = request.runtime.time.now();
    this.#now = this.#began;
  }

  async take(): Promise<Outcome> {
    const { engine, state, answers, end } = this.#request;
    const outcome = await engine.advance(state, answers, this.#runtime(), end);
    this.close();
    this.#ignored = outcome.ignored;
    if (outcome.status === 'suspended') this.#came = cameTo(outcome, this.#now);
    else this.#endedAt = outcome.state;
    return outcome;
  }

  close(): void {
    this.#over = true;
  }

  get noted(): NotedTurn {
    const journal = this.#endedAt && this.#request.engine.history?.(this.#endedAt);
    return {
      request: this.#request,
      began: this.#began,
      events: this.events,
      host: this.#host,
      ...present({ journal }),
    };
  }

  get events(): readonly RecordedEvent[] {
    const unended = Array.from(this.#running, (event) => ({ ...event, outcome: 'not ended' }));
    return [...this.#answers(), ...this.#events, ...unended, ...this.#came];
  }

  get #host(): HostFacts {
    const { turn, time, effects } = this.#request.runtime;
    const { deadline } = turn;
    const { maxHold, maxWait } = time;
    const facts: Mutable<HostFacts> = {};
    if (deadline !== undefined) {
      const budget = deadline - this.#began;
      facts.budget = Number.isFinite(budget) ? budget : budget > 0 ? 'unlimited' : 'over';
    }
    if (Number.isFinite(maxHold)) facts.maxHold = maxHold;
    if (Number.isFinite(maxWait)) facts.maxWait = maxWait;
    if (time.holdsParts) facts.holdsParts = true;
    if (turn.commitsEach) facts.checkpointAfterStep = true;
    if (turn.commit !== undefined) facts.checkpointBeforeUndo = true;
    if (turn.defersEffects !== undefined) facts.defersEffects = turn.defersEffects;
    if (effects.stepRetry !== undefined) {
      const { when: _, ...plan } = effects.stepRetry;
      facts.stepRetry = plan;
    }
    if (turn.tokenBytes > 0) facts.hasToken = true;
    if (this.#routes.size > 0) facts.routes = Object.fromEntries(this.#routes);
    if (this.#refused.size > 0) facts.refused = [...this.#refused];
    if (this.#claims.includes(false)) facts.claims = this.#claims;
    if (this.#random.length > 0) facts.random = this.#random;
    return facts;
  }

  #answers(): readonly RecordedEvent[] {
    const { engine, state, answers } = this.#request;
    const why = new Map(this.#ignored.map(({ stepId, why: reason }) => [stepId, reason]));
    return engine.asked(state).flatMap((id) => {
      const answer = answers.get(id);
      if (answer === undefined) return [];
      return [
        { ...answerEvent(id, answer, this.#kinds.get(id)), ...present({ reason: why.get(id) }) },
      ];
    });
  }

  #runtime(): Runtime {
    const { runtime, engine } = this.#request;
    if (engine.history !== undefined) return runtime;
    const { claim } = runtime.effects;
    return {
      ...runtime,
      turn: {
        ...runtime.turn,
        ...(runtime.turn.commit === undefined
          ? {}
          : { commit: (point: CommitPoint) => this.#commit(point) }),
      },
      time: {
        ...runtime.time,
        // Stands still between two events: a replay finds the same times.
        now: () => this.#now,
        random: () => {
          const drawn = runtime.time.random();
          this.#random.push(drawn);
          return drawn;
        },
        sleep: async (ms, signal) => {
          await runtime.time.sleep(ms, signal);
          if (!signal.aborted) this.#note({ kind: 'wait', id: '', outcome: 'passed', ms });
        },
      },
      questions: {
        ...runtime.questions,
        route: (question) => {
          const route = runtime.questions.route(question);
          if (route !== 'ask') this.#routes.set(questionKey(question), route);
          return route;
        },
        accepts: (provenance, question) => {
          const counts = runtime.questions.accepts(provenance, question);
          if (!counts) this.#refused.add(`${provenance} ${questionKey(question)}`);
          return counts;
        },
        sample: (params, step) => {
          const id = this.#paths.get(step.idempotencyKey) ?? '';
          return this.#noted('sample', id, params, () =>
            runtime.questions.sample(params, step),
          ) as never;
        },
      },
      effects: {
        ...runtime.effects,
        claim:
          claim &&
          (async (key) => {
            const free = await claim(key);
            this.#claims.push(free);
            return free;
          }),
        idempotencyKey: async (path, key, direction) => {
          const made = keyText(await runtime.effects.idempotencyKey(path, key, direction));
          this.#paths.set(made, path);
          return made;
        },
        perform: (call) =>
          this.#noted(call.kind, call.path, call.step.input, () =>
            runtime.effects.perform === undefined
              ? call.run(call.step)
              : runtime.effects.perform(call),
          ),
      },
      observer: {
        ...runtime.observer,
        observe: (event) => {
          if (event.type === 'answered' || event.type === 'asked')
            this.#kinds.set(event.path, event.kind);
          runtime.observer.observe(event);
        },
      },
    };
  }

  /** Ends the turn at a commit, and begins the next one. */
  async #commit(point: CommitPoint): ReturnType<Commit> {
    const { runtime, onCommit, engine } = this.#request;
    const next = await runtime.turn.commit?.(point);
    if (next === undefined) return undefined;
    this.#ignored = point.ignored;
    this.#came = cameTo(point, this.#now);
    const { noted } = this;
    await onCommit?.(noted, point);
    this.#request = {
      engine,
      state: point.state,
      answers: new Map(),
      runtime: runtimeAfter(runtime, next),
      end: undefined,
      ...present({ onCommit }),
    };
    [this.#events, this.#claims, this.#random, this.#came, this.#ignored] = [[], [], [], [], []];
    this.#runs.clear();
    this.#routes.clear();
    this.#refused.clear();
    this.#now = Math.max(this.#now, runtime.time.now());
    this.#began = this.#now;
    return next;
  }

  /** Runs code, and records its input and outcome. */
  async #noted(kind: string, id: string, input: unknown, code: () => unknown): Promise<unknown> {
    const run = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, run);
    const { value: given } = resultOf(input);
    const facts = { ...(run === 1 ? {} : { run }), ...present({ given }) };
    const running = { kind, id, outcome: 'running', ...facts };
    this.#running.add(running);
    try {
      const result = await code();
      const { outcome, ...value } = resultOf(result);
      this.#ended(running, { kind, id, outcome, ...facts, ...value });
      return result;
    } catch (thrown) {
      this.#ended(running, { kind, id, outcome: 'failed', ...facts, value: thrownToJson(thrown) });
      throw thrown;
    }
  }

  #ended(running: RecordedEvent, ended: RecordedEvent): void {
    // Recorded as not ended: the turn ended before.
    if (this.#over) return;
    this.#running.delete(running);
    this.#note(ended);
  }

  #note(event: RecordedEvent): void {
    if (this.#over) return;
    const now = Math.max(this.#now, this.#request.runtime.time.now());
    const waited = now - this.#now;
    this.#now = now;
    this.#events.push(waited === 0 ? event : { ...event, waited });
  }
}

function cameTo(
  { steps, retryAfterMs, deadline }: Extract<Outcome, { readonly status: 'suspended' }>,
  now: number,
): readonly RecordedEvent[] {
  const asked = steps.map((step): RecordedEvent => {
    const { stepId: id, params, reason } = step;
    return { kind: kindOfStep(step), id, outcome: 'asked', given: params, ...present({ reason }) };
  });
  if (asked.length > 0 && deadline === undefined) return asked;
  const latest = deadline === undefined ? undefined : deadline - now;
  return [
    ...asked,
    { kind: 'wait', id: '', outcome: 'waits', ...present({ ms: retryAfterMs, latest }) },
  ];
}

/** Outcome of code; if the value cannot be encoded, the reason. */
function resultOf(result: unknown): Pick<RecordedEvent, 'outcome' | 'value'> {
  if (result === undefined) return { outcome: 'done' };
  try {
    return { outcome: 'done', value: toJson(result) };
  } catch (error) {
    return { outcome: 'unencodable', value: thrownToJson(error) };
  }
}
