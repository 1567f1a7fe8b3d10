import type { Program } from '@mcp-saga/server';
import {
  runtimeAfter,
  type ClientAnswer,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/server/internal';
import { kindOfStep } from '../report/question-text.ts';
import { questionKey, type HostFacts, type RawEvent } from './turns-recording.ts';
import { toJson } from './recorded-event.ts';
import { thrownToJson } from './thrown-values.ts';
import { answerEvent } from './turn-answers.ts';

/** Start of a turn, and what to do in it. */
export interface TurnRequest {
  readonly program: Pick<Program, 'advance' | 'asked'>;
  readonly state: ProgramState;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  readonly runtime: Runtime;
  readonly end: EndRequest | undefined;
  /** Called for each turn that ends by a commit, with the outcome of that turn. */
  readonly onCommit?: (noted: NotedTurn, outcome: Outcome) => Promise<void>;
}

/** Recorded facts of a turn. */
export interface NotedTurn {
  readonly request: Pick<TurnRequest, 'state' | 'runtime' | 'end'>;
  /** When the turn began, in milliseconds since the epoch. */
  readonly began: number;
  readonly events: readonly RawEvent[];
  readonly host: HostFacts;
}

type Commit = NonNullable<Runtime['commit']>;
type CommitPoint = Parameters<Commit>[0];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Takes a turn, and records what comes into it and what it asks. */
export class TurnRecorder {
  #request: TurnRequest;
  #began: number;
  #events: RawEvent[] = [];
  readonly #running = new Set<RawEvent>();
  readonly #runs = new Map<string, number>();
  readonly #kinds = new Map<string, string>();
  readonly #paths = new Map<string, string>();
  readonly #routes = new Map<string, ReturnType<Runtime['route']>>();
  readonly #refused = new Set<string>();
  #claims: boolean[] = [];
  #random: number[] = [];
  #came: readonly RawEvent[] = [];
  #ignored: Outcome['ignored'] = [];
  #now: number;
  #over = false;

  constructor(request: TurnRequest) {
    this.#request = request;
    this.#began = request.runtime.now();
    this.#now = this.#began;
  }

  async take(): Promise<Outcome> {
    const { program, state, answers, end } = this.#request;
    const outcome = await program.advance(state, answers, this.#runtime(), end);
    this.close();
    this.#ignored = outcome.ignored;
    if (outcome.status === 'suspended') this.#came = cameTo(outcome, this.#now);
    return outcome;
  }

  close(): void {
    this.#over = true;
  }

  get noted(): NotedTurn {
    return { request: this.#request, began: this.#began, events: this.events, host: this.#host };
  }

  get events(): readonly RawEvent[] {
    const unended = Array.from(this.#running, (event) => ({ ...event, outcome: 'not ended' }));
    return [...this.#answers(), ...this.#events, ...unended, ...this.#came];
  }

  get #host(): HostFacts {
    const { deadline, maxHold, maxWait, tokenBytes, ...runtime } = this.#request.runtime;
    const facts: Mutable<HostFacts> = {};
    if (deadline !== undefined) {
      const budget = deadline - this.#began;
      facts.budget = Number.isFinite(budget) ? budget : budget > 0 ? 'unlimited' : 'over';
    }
    if (Number.isFinite(maxHold)) facts.maxHold = maxHold;
    if (Number.isFinite(maxWait)) facts.maxWait = maxWait;
    if (runtime.holdsParts) facts.holdsParts = true;
    if (runtime.commitsEach) facts.checkpointAfterStep = true;
    if (runtime.commit !== undefined) facts.checkpointBeforeUndo = true;
    if (runtime.defersEffects === true) facts.defersEffects = true;
    if (tokenBytes > 0) facts.hasToken = true;
    if (this.#routes.size > 0) facts.routes = Object.fromEntries(this.#routes);
    if (this.#refused.size > 0) facts.refused = [...this.#refused];
    if (this.#claims.includes(false)) facts.claims = this.#claims;
    if (this.#random.length > 0) facts.random = this.#random;
    return facts;
  }

  #answers(): readonly RawEvent[] {
    const { program, state, answers } = this.#request;
    const why = new Map(this.#ignored.map(({ stepId, why: reason }) => [stepId, reason]));
    return program.asked(state).flatMap((id) => {
      const answer = answers.get(id);
      if (answer === undefined) return [];
      const reason = why.get(id);
      const event = answerEvent(id, answer, this.#kinds.get(id));
      return [reason === undefined ? event : { ...event, reason }];
    });
  }

  #runtime(): Runtime {
    const { runtime } = this.#request;
    return {
      ...runtime,
      // It stands still between two things that happen, so that a replay finds the very times that the turn found.
      now: () => this.#now,
      random: () => {
        const drawn = runtime.random();
        this.#random.push(drawn);
        return drawn;
      },
      sleep: async (ms, signal) => {
        await runtime.sleep(ms, signal);
        if (!signal.aborted) this.#note({ kind: 'wait', id: '', outcome: 'passed', ms });
      },
      route: (question) => {
        const route = runtime.route(question);
        if (route !== 'ask') this.#routes.set(questionKey(question), route);
        return route;
      },
      accepts: (provenance, question) => {
        const counts = runtime.accepts(provenance, question);
        if (!counts) this.#refused.add(`${provenance} ${questionKey(question)}`);
        return counts;
      },
      sample: (params, step) => {
        const id = this.#paths.get(step.idempotencyKey) ?? '';
        return this.#noted('sample', id, params, () => runtime.sample(params, step)) as never;
      },
      ...(runtime.claim === undefined
        ? {}
        : {
            claim: async (key: string) => {
              const free = (await runtime.claim?.(key)) ?? true;
              this.#claims.push(free);
              return free;
            },
          }),
      ...(runtime.commit === undefined ? {} : { commit: (point: CommitPoint) => this.#commit(point) }),
      idempotencyKey: async (path, key, direction) => {
        const made = await runtime.idempotencyKey(path, key, direction);
        this.#paths.set(made, path);
        return made;
      },
      observe: (event) => {
        if (event.type === 'answered' || event.type === 'asked') this.#kinds.set(event.path, event.kind);
        runtime.observe(event);
      },
      perform: (call) =>
        this.#noted(call.kind, call.path, call.step.input, () =>
          runtime.perform === undefined ? call.run(call.step) : runtime.perform(call),
        ),
    };
  }

  /** Ends the turn at a commit, and begins the next one. */
  async #commit(point: CommitPoint): ReturnType<Commit> {
    const { runtime, onCommit, program } = this.#request;
    const next = await runtime.commit?.(point);
    if (next === undefined) return undefined;
    this.#ignored = point.ignored;
    this.#came = cameTo(point, this.#now);
    const { noted } = this;
    await onCommit?.(noted, point);
    this.#request = {
      program,
      state: point.state,
      answers: new Map(),
      runtime: runtimeAfter(runtime, next),
      end: undefined,
      ...(onCommit === undefined ? {} : { onCommit }),
    };
    [this.#events, this.#claims, this.#random, this.#came, this.#ignored] = [[], [], [], [], []];
    this.#runs.clear();
    this.#routes.clear();
    this.#refused.clear();
    this.#now = Math.max(this.#now, runtime.now());
    this.#began = this.#now;
    return next;
  }

  /** Runs code, and records its input and outcome. */
  async #noted(kind: string, id: string, input: unknown, code: () => unknown): Promise<unknown> {
    const run = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, run);
    const { value: given } = resultOf(input);
    const facts = { ...(run === 1 ? {} : { run }), ...(given === undefined ? {} : { given }) };
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

  #ended(running: RawEvent, ended: RawEvent): void {
    // What ends when the turn has is one that had not ended.
    if (this.#over) return;
    this.#running.delete(running);
    this.#note(ended);
  }

  #note(event: RawEvent): void {
    if (this.#over) return;
    const now = Math.max(this.#now, this.#request.runtime.now());
    const waited = now - this.#now;
    this.#now = now;
    this.#events.push(waited === 0 ? event : { ...event, waited });
  }
}

function cameTo(
  { steps, retryAfterMs, deadline }: Extract<Outcome, { readonly status: 'suspended' }>,
  now: number,
): readonly RawEvent[] {
  const asked = steps.map((step): RawEvent => {
    const { stepId: id, params, reason } = step;
    return {
      kind: kindOfStep(step),
      id,
      outcome: 'asked',
      given: params,
      ...(reason === undefined ? {} : { reason }),
    };
  });
  if (asked.length > 0 && deadline === undefined) return asked;
  return [
    ...asked,
    {
      kind: 'wait',
      id: '',
      outcome: 'waits',
      ...(retryAfterMs === undefined ? {} : { ms: retryAfterMs }),
      ...(deadline === undefined ? {} : { latest: deadline - now }),
    },
  ];
}

/** Outcome of code; if the value cannot be encoded, the reason. */
function resultOf(result: unknown): Pick<RawEvent, 'outcome' | 'value'> {
  if (result === undefined) return { outcome: 'done' };
  try {
    return { outcome: 'done', value: toJson(result) };
  } catch (error) {
    return { outcome: 'unencodable', value: thrownToJson(error) };
  }
}
