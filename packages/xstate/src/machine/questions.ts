import { ClientCannot, StepError, type ClientStep, type StepErrorData } from '@mcp-saga/core';
import {
  AnswerCheck,
  answerHere,
  digestOfStep,
  encodeError,
  needOf,
  outcomeOf,
  routeOf,
  routeWithoutClient,
  toClientStep,
  decode,
  type ClientAnswer,
  type Route,
  type Runtime,
} from '@mcp-saga/core/program';
import { hasInvokeId } from '../adapter/xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { invalidAnswer } from '../author/step-error.ts';
import { askOf, type AskSpec, type StepEnd } from '../author/step-logic.ts';
import type { SurveyedActor } from '../adapter/survey.ts';

/** What questions need of the turn they belong to. */
export interface QuestionsOptions {
  readonly saga: string;
  readonly runtime: Runtime;
  /** Digests of what was asked last, by step id. */
  readonly asked: { readonly [stepId: string]: string };
  /** The id of a step: its path, and the turn in which it was created. */
  readonly idOf: (at: SurveyedActor) => string;
  /** Told when something has been answered here. */
  readonly wake: () => void;
}

/** The client steps of a machine in one turn: how they are answered, and who answers them. */
export class Questions extends AnswerCheck {
  /** How many questions were answered here. */
  answeredHere = 0;

  readonly #options: QuestionsOptions;
  readonly #routes = new WeakMap<LiveActor, Route>();
  readonly #answering = new Map<LiveActor, AbortController>();

  constructor(options: QuestionsOptions) {
    const { saga: name, runtime, asked } = options;
    super({ name, runtime, asked, advice: 'Make it of the input of its invoke alone.' });
    this.#options = options;
  }

  /** Whether some are being answered here. */
  get busy(): boolean {
    for (const [actor, controller] of this.#answering) {
      if (actor.getSnapshot().status !== 'active')
        controller.abort(new Error('The state that asked was left.'));
    }
    return this.#answering.size > 0;
  }

  /** Hands answers to the steps that wait for them, in the order of the tree. All are checked before any is delivered. */
  async deliver(asks: readonly SurveyedActor[], answers: ReadonlyMap<string, ClientAnswer>): Promise<void> {
    const ends: { readonly at: SurveyedActor; readonly ended: StepEnd }[] = [];
    const known = new Set(asks.map((at) => this.#options.idOf(at)));
    for (const stepId of answers.keys()) if (!known.has(stepId)) this.ignore(stepId, 'unknown');
    for (const at of asks) {
      const answer = answers.get(this.#options.idOf(at));
      // oxlint-disable-next-line no-await-in-loop -- in the order of the tree
      const ended = answer === undefined ? undefined : await this.#end(at, answer);
      if (ended !== undefined) ends.push({ at, ended });
    }
    for (const { at, ended } of ends) {
      // An answer before this one may have left the state that asked.
      if (at.actor.getSnapshot().status === 'active') end(at.actor, ended);
      else this.ignore(this.#options.idOf(at), 'unknown');
    }
  }

  /**
   * Answers questions that the client is not asked, by a fallback or the host's model. `true` if that changed something.
   *
   * @param defers - whether work here waits for the next turn
   * @param hasTime - whether anything may still run in this turn
   */
  route(asks: readonly SurveyedActor[], defers: () => boolean, hasTime: boolean): boolean {
    let changed = false;
    for (const at of asks) {
      if (!hasTime || this.isAsked(at) || this.#answering.has(at.actor)) continue;
      if (at.actor.getSnapshot().status !== 'active') continue;
      if (this.#routeOf(at) !== 'cannot' && defers()) continue;
      changed = true;
      const { spec, stepId } = this.#open(at);
      const need = needOf(spec);
      if (this.#routeOf(at) === 'cannot') end(at.actor, { error: new ClientCannot(stepId, need) });
      else if (spec.kind === 'elicit' || spec.kind === 'sample') void this.#answerHere(at, spec, stepId);
    }
    return changed;
  }

  /** Whether the client is asked, in this turn. */
  isAsked(at: SurveyedActor): boolean {
    return this.#routeOf(at) === 'ask';
  }

  #routeOf(at: SurveyedActor): Route {
    let route = this.#routes.get(at.actor);
    if (route === undefined) {
      route = routeOf({ spec: this.#open(at).spec, route: undefined }, this.#options.runtime) ?? 'ask';
      this.#routes.set(at.actor, route);
    }
    return route;
  }

  /** The requests of what waits, and their digests. */
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
        // It is answered here, in another turn; what was asked before may be answered until then.
        const before = Object.hasOwn(known, stepId) ? known[stepId] : undefined;
        if (before !== undefined) asked.push([stepId, before]);
        continue;
      }
      const step = toClientStep(spec, stepId) as ClientStep;
      // oxlint-disable-next-line no-await-in-loop -- a few questions at the most
      asked.push([stepId, await digestOfStep(runtime, step)]);
      if (!Object.hasOwn(known, stepId) && hasInvokeId(stepId)) {
        runtime.warn?.(
          `Saga '${saga}' asks '${stepId}', as XState names what a state invokes without an id. Clients are told that ` +
            'name, and it changes with the state: give the invoke an id.',
        );
      }
      const reason = this.reasons.get(stepId);
      runtime.observe({ type: 'asked', kind: spec.kind, path: stepId });
      steps.push(reason === undefined ? step : { ...step, reason });
    }
    return { steps, asked: Object.fromEntries(asked) };
  }

  #open(at: SurveyedActor): { readonly spec: AskSpec; readonly stepId: string } {
    const stepId = this.#options.idOf(at);
    const ask = askOf(at.actor.logic);
    if (ask === undefined) throw new TypeError(`'${stepId}' asks nothing.`);
    return { spec: ask.toSpec(stepId, at.actor.getSnapshot().input), stepId };
  }

  async #end(at: SurveyedActor, answer: ClientAnswer): Promise<StepEnd | undefined> {
    const { spec, stepId } = this.#open(at);
    const checked = await this.check(spec, stepId, answer);
    if (checked === 'unsupported') {
      this.#routes.set(at.actor, routeWithoutClient(spec, this.#options.runtime));
      return undefined;
    }
    return checked === undefined ? undefined : this.#toEnd(at.actor, spec, stepId, checked);
  }

  #toEnd(actor: LiveActor, spec: AskSpec, stepId: string, accepted: Accepted): StepEnd {
    const { failed, value } = outcomeOf(spec, stepId, accepted.entry.type, accepted.value);
    if (failed) return { error: value };
    const parse = askOf(actor.logic)?.parse;
    if (parse === undefined) return { output: value };
    try {
      return { output: parse(value as never) };
    } catch (error) {
      this.#options.runtime.observe({ type: 'failed', kind: spec.kind, path: stepId, error });
      const message = `The answer to '${stepId}' cannot be read.`;
      return { error: new StepError(stepId, { name: 'InvalidAnswer', message, code: invalidAnswer }) };
    }
  }

  async #answerHere(
    { actor }: SurveyedActor,
    spec: Extract<AskSpec, { readonly kind: 'elicit' | 'sample' }>,
    stepId: string,
  ): Promise<void> {
    const { runtime, wake } = this.#options;
    const controller = new AbortController();
    this.#answering.set(actor, controller);
    let ended: StepEnd;
    try {
      ended = this.#toEnd(actor, spec, stepId, await answerHere(spec, stepId, runtime, controller.signal));
    } catch (error) {
      ended = { error: new StepError(stepId, decode(encodeError(error)) as StepErrorData) };
    }
    this.#answering.delete(actor);
    this.answeredHere += 1;
    if (actor.getSnapshot().status === 'active') end(actor, ended);
    wake();
  }
}

type Accepted = Awaited<ReturnType<typeof answerHere>>;

function end(actor: LiveActor, ended: StepEnd): void {
  actor.send({ type: 'mcp-saga.end', end: ended });
}
