import { ClientCannot, StepError, type ClientStep, type StepErrorData } from '@mcp-saga/core';
import {
  AnswerCheck,
  answerHere,
  digestOfStep,
  encodeError,
  needOf,
  outcomeOf,
  routeOf,
  Room,
  routeWithoutClient,
  toClientStep,
  decode,
  type ClientAnswer,
  type PendingRoom,
  type ProgramState,
  type Route,
  type Runtime,
  type TurnBudget,
} from '@mcp-saga/core/program';
import { hasInvokeId } from '../adapter/xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { invalidAnswer } from '../author/step-error.ts';
import { askOf, type AskSpec, type StepEnd } from '../author/step-logic.ts';
import type { SurveyedActor } from '../adapter/survey.ts';

/** Options of {@link Questions}. */
export interface QuestionsOptions {
  readonly saga: string;
  readonly runtime: Runtime;
  /** State of the machine before its answers. */
  readonly state: ProgramState;
  /** Returns the bytes that answers from outside take, and will take. */
  readonly reserved: () => number;
  /** Digests of the questions that the client may answer, by step ID, see `Head`. */
  readonly asked: { readonly [stepId: string]: string };
  /** Returns the ID of a step. */
  readonly idOf: (at: SurveyedActor) => string;
  /** Called when the host has answered a question. */
  readonly wake: () => void;
  /** Notes what the next commit must hold. */
  readonly uncommitted: TurnBudget['uncommitted'];
}

/** Client steps of a machine in one turn, with their routes and answers. */
export class Questions extends AnswerCheck {
  /** Number of questions that the host answered. */
  answeredHere = 0;

  readonly #options: QuestionsOptions;
  /** Questions of the answers that this turn takes. */
  #asks: readonly SurveyedActor[] = [];
  /** The same questions for the room of the token, once an answer needs them. */
  #pending: readonly PendingRoom[] | undefined;
  /** Texts of the answers that were accepted, which the machine may keep in its context. */
  #taken = '';
  readonly #routes = new Map<LiveActor, Route>();
  readonly #answering = new Map<LiveActor, AbortController>();

  constructor(options: QuestionsOptions) {
    const { saga: name, runtime, asked, state, reserved } = options;
    super({
      name,
      runtime,
      asked,
      advice: 'Compute the question from the input of its invoke alone.',
      room: new Room({
        runtime: () => runtime,
        state: () => ({ ...state, server: `${state.server},${JSON.stringify(this.#taken)}` }),
        addedLength: () => this.#taken.length,
        pending: () => (this.#pending ??= this.#toPending()),
        reserved,
      }),
    });
    this.#options = options;
  }

  /** `true` while the host answers a question. */
  get busy(): boolean {
    for (const [actor, controller] of this.#answering) {
      if (actor.getSnapshot().status !== 'active')
        controller.abort(new Error('The machine left the state of the question.'));
    }
    return this.#answering.size > 0;
  }

  /** Delivers answers to pending steps in the order of the tree, after all answers are checked. */
  async deliver(
    asks: readonly SurveyedActor[],
    answers: ReadonlyMap<string, ClientAnswer>,
  ): Promise<void> {
    const ends: { readonly at: SurveyedActor; readonly ended: StepEnd }[] = [];
    this.#asks = asks;
    this.#pending = undefined;
    const known = new Set(asks.map((at) => this.#options.idOf(at)));
    for (const stepId of answers.keys()) if (!known.has(stepId)) this.ignore(stepId, 'unknown');
    for (const at of asks) {
      const answer = answers.get(this.#options.idOf(at));
      const ended = answer === undefined ? undefined : await this.#end(at, answer);
      if (ended !== undefined) ends.push({ at, ended });
    }
    for (const { at, ended } of ends) {
      // An earlier answer can leave the state of this question.
      if (at.actor.getSnapshot().status === 'active') end(at.actor, ended);
      else this.ignore(this.#options.idOf(at), 'unknown');
    }
  }

  /**
   * Answers questions without the client, by a fallback or the host's model. Returns `true` if
   * anything changed.
   * @param defers - `true` if work waits for the next turn
   * @param hasTime - `true` if work may still start in this turn
   */
  route(asks: readonly SurveyedActor[], defers: () => boolean, hasTime: boolean): boolean {
    let changed = false;
    for (const at of asks) {
      // A question that ended with another one of this loop has no input left.
      if (!hasTime || at.actor.getSnapshot().status !== 'active') continue;
      if (this.isAsked(at) || this.#answering.has(at.actor)) continue;
      if (this.#routeOf(at) !== 'cannot' && defers()) continue;
      changed = true;
      const { spec, stepId } = this.#open(at);
      const need = needOf(spec);
      if (this.#routeOf(at) === 'cannot') end(at.actor, { error: new ClientCannot(stepId, need) });
      else if (spec.kind === 'elicit' || spec.kind === 'sample')
        void this.#answerHere(at, spec, stepId);
    }
    return changed;
  }

  /** `true` if the client is asked in this turn. */
  isAsked(at: SurveyedActor): boolean {
    return this.#routeOf(at) === 'ask';
  }

  #routeOf(at: SurveyedActor): Route {
    let route = this.#routes.get(at.actor);
    if (route === undefined) {
      route =
        routeOf({ spec: this.#open(at).spec, route: undefined }, this.#options.runtime.questions) ??
        'ask';
      this.#routes.set(at.actor, route);
    }
    return route;
  }

  /** Returns the requests of pending questions, and their digests. */
  async toSteps(asks: readonly SurveyedActor[]): Promise<{
    readonly steps: readonly ClientStep[];
    readonly asked: { readonly [stepId: string]: string };
  }> {
    const steps: ClientStep[] = [];
    const asked: [string, string][] = [];
    const { asked: known, runtime, saga } = this.#options;
    for (const at of asks) {
      const { spec, stepId } = this.#open(at);
      if (!this.isAsked(at)) {
        // The host answers in a later turn. Until then, the client may answer an earlier request.
        const before = Object.hasOwn(known, stepId) ? known[stepId] : undefined;
        if (before !== undefined) asked.push([stepId, before]);
        continue;
      }
      const step = toClientStep(spec, stepId) as ClientStep;
      asked.push([stepId, await digestOfStep(runtime.questions, step)]);
      if (!Object.hasOwn(known, stepId) && hasInvokeId(stepId)) {
        runtime.observer.warn?.(
          `Saga '${saga}' asks '${stepId}', an ID that XState made for an invoke without an id. Clients see the ID, ` +
            'and it changes with the state. Set an id on the invoke.',
        );
      }
      const reason = this.reasons.get(stepId);
      runtime.observer.observe({ type: 'asked', kind: spec.kind, path: stepId });
      steps.push(reason === undefined ? step : { ...step, reason });
    }
    return { steps, asked: Object.fromEntries(asked) };
  }

  /**
   * Every answer asks the room of the token for these questions. No machine state changes before all
   * answers are checked, so they are opened once, and not once for each answer.
   */
  #toPending(): readonly PendingRoom[] {
    return this.#asks.map((at) => {
      const { spec, stepId } = this.#open(at);
      return { spec, path: stepId };
    });
  }

  #open(at: SurveyedActor): { readonly spec: AskSpec; readonly stepId: string } {
    const stepId = this.#options.idOf(at);
    const ask = askOf(at.actor.logic);
    if (ask === undefined) throw new TypeError(`Step '${stepId}' is not a client step.`);
    return { spec: ask.toSpec(stepId, at.actor.getSnapshot().input), stepId };
  }

  async #end(at: SurveyedActor, answer: ClientAnswer): Promise<StepEnd | undefined> {
    const { spec, stepId } = this.#open(at);
    const checked = await this.check(spec, stepId, answer);
    if (checked === 'unsupported') {
      this.#routes.set(at.actor, routeWithoutClient(spec, this.#options.runtime.questions));
      return undefined;
    }
    if (checked === undefined) return undefined;
    this.#taken += checked.entry.text ?? '';
    return this.#toEnd(at.actor, spec, stepId, checked);
  }

  #toEnd(actor: LiveActor, spec: AskSpec, stepId: string, accepted: Accepted): StepEnd {
    const { failed, value } = outcomeOf(spec, stepId, accepted.entry.type, accepted.value);
    if (failed) return { error: value };
    const parse = askOf(actor.logic)?.parse;
    if (parse === undefined) return { output: value };
    try {
      return { output: parse(value as never) };
    } catch (error) {
      this.#options.runtime.observer.observe({
        type: 'failed',
        kind: spec.kind,
        path: stepId,
        error,
      });
      const message = `The parse function of step '${stepId}' rejected the answer.`;
      return {
        error: new StepError(stepId, { name: 'InvalidAnswer', message, code: invalidAnswer }),
      };
    }
  }

  async #answerHere(
    { actor }: SurveyedActor,
    spec: Extract<AskSpec, { readonly kind: 'elicit' | 'sample' }>,
    stepId: string,
  ): Promise<void> {
    const { runtime, wake, uncommitted } = this.#options;
    const controller = new AbortController();
    this.#answering.set(actor, controller);
    let ended: StepEnd;
    try {
      ended = this.#toEnd(
        actor,
        spec,
        stepId,
        await answerHere(spec, stepId, runtime, controller.signal),
      );
    } catch (error) {
      ended = { error: new StepError(stepId, decode(encodeError(error)) as StepErrorData) };
    }
    this.#answering.delete(actor);
    this.answeredHere += 1;
    uncommitted.noteStep(false, false);
    if (actor.getSnapshot().status === 'active') end(actor, ended);
    wake();
  }
}

type Accepted = Awaited<ReturnType<typeof answerHere>>;

function end(actor: LiveActor, ended: StepEnd): void {
  actor.send({ type: 'mcp-saga.end', end: ended });
}
