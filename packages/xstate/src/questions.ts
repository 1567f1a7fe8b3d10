import {
  ClientCannot,
  StepError,
  type ClientAnswer,
  type ClientNeed,
  type ClientStep,
  type IgnoredAnswer,
  type Json,
  type Question,
  type Runtime,
} from '@mcp-saga/core';
import { acceptAnswer, digestOfStep, outcomeOf, runStep, toClientStep } from '@mcp-saga/core/program';
import type { LiveActor } from './adapter.ts';
import { fallbackSpec } from './fallback.ts';
import { invalidAnswer } from './step-error.ts';
import { askOf, type AskSpec, type StepEnd } from './step-logic.ts';
import type { SurveyedActor } from './survey.ts';

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
export class Questions {
  /** How many of the client's answers were accepted. */
  accepted = 0;
  readonly ignored: IgnoredAnswer[] = [];

  readonly #options: QuestionsOptions;
  readonly #reasons = new Map<string, string>();
  readonly #routed = new WeakSet<LiveActor>();
  readonly #answering = new Map<LiveActor, AbortController>();

  constructor(options: QuestionsOptions) {
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
    const ends: { readonly at: SurveyedActor; readonly end: StepEnd }[] = [];
    const known = new Set(asks.map((at) => this.#options.idOf(at)));
    for (const stepId of answers.keys()) if (!known.has(stepId)) this.#ignore(stepId, 'unknown');
    for (const at of asks) {
      const answer = answers.get(this.#options.idOf(at));
      // oxlint-disable-next-line no-await-in-loop -- in the order of the tree
      const end = answer === undefined ? undefined : await this.#check(at, answer);
      if (end !== undefined) ends.push({ at, end });
    }
    for (const { at, end } of ends) {
      // An answer before this one may have left the state that asked.
      if (at.actor.getSnapshot().status === 'active') this.#end(at.actor, end);
      else this.#ignore(this.#options.idOf(at), 'unknown');
    }
  }

  /** Finds out who answers what has not been asked in this turn yet. True when that has changed something. (W3) */
  route(asks: readonly SurveyedActor[]): boolean {
    let changed = false;
    for (const at of asks) {
      if (this.#routed.has(at.actor) || at.actor.getSnapshot().status !== 'active') continue;
      this.#routed.add(at.actor);
      const { spec, stepId } = this.#open(at);
      const question = questionOf(spec);
      const route = this.#options.runtime.route(question);
      if (route === 'ask') continue;
      changed = true;
      if (route === 'cannot') this.#end(at.actor, { error: new ClientCannot(stepId, question.need) });
      else void this.#answerHere(at, spec, stepId);
    }
    return changed;
  }

  /** The requests of what waits, and their digests. */
  async toSteps(asks: readonly SurveyedActor[]): Promise<{
    readonly steps: readonly ClientStep[];
    readonly asked: { readonly [stepId: string]: string };
  }> {
    const steps: ClientStep[] = [];
    const asked: [string, string][] = [];
    for (const at of asks) {
      const { spec, stepId } = this.#open(at);
      const step = toClientStep(spec, stepId) as ClientStep;
      // oxlint-disable-next-line no-await-in-loop -- a few questions at the most
      asked.push([stepId, await digestOfStep(this.#options.runtime, step)]);
      const reason = this.#reasons.get(stepId);
      this.#options.runtime.observe({ type: 'asked', kind: spec.kind, path: stepId });
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

  async #check(at: SurveyedActor, answer: ClientAnswer): Promise<StepEnd | undefined> {
    const { runtime, asked, saga } = this.#options;
    const { spec, stepId } = this.#open(at);
    const digest = await digestOfStep(runtime, toClientStep(spec, stepId) as ClientStep);
    if (!Object.hasOwn(asked, stepId) || asked[stepId] !== digest) {
      this.#reasons.set(stepId, 'the question has changed since it was asked: please answer it as it is now');
      this.#ignore(stepId, 'asked otherwise');
      runtime.warn?.(
        `Saga '${saga}' asks '${stepId}' otherwise than before, so its answer was not used. Was it changed, or is its ` +
          'message made of something that varies? Make it of the input of its invoke alone.',
      );
      return undefined;
    }
    if (!runtime.accepts(answer.provenance, questionOf(spec))) {
      this.#ignore(stepId, 'not accepted');
      return undefined;
    }
    const end = await this.#accepted(at, spec, stepId, answer);
    if ('reason' in end) {
      this.#reasons.set(stepId, end.reason);
      this.#ignore(stepId, 'invalid');
      return undefined;
    }
    this.accepted += 1;
    return end;
  }

  async #accepted(
    { actor }: SurveyedActor,
    spec: AskSpec,
    stepId: string,
    answer: ClientAnswer,
  ): Promise<StepEnd | { readonly reason: string }> {
    const { runtime } = this.#options;
    const observed = { kind: spec.kind, path: stepId };
    const acceptance = await acceptAnswer(spec, answer, (error) =>
      runtime.observe({ ...observed, type: 'failed', error }),
    );
    if ('reason' in acceptance) return acceptance;
    runtime.observe({ ...observed, type: 'answered' });
    const { failed, value } = outcomeOf(spec, stepId, acceptance.entry.letter, acceptance.value);
    if (failed) return { error: value };
    const parse = askOf(actor.logic)?.parse;
    if (parse === undefined) return { output: value };
    try {
      return { output: parse(value as never) };
    } catch (error) {
      runtime.observe({ ...observed, type: 'failed', error });
      return { error: invalidStep(stepId, `The answer to '${stepId}' cannot be read.`) };
    }
  }

  /** The author's fallback answers, or the host samples. */
  async #answerHere(at: SurveyedActor, spec: AskSpec, stepId: string): Promise<void> {
    const controller = new AbortController();
    this.#answering.set(at.actor, controller);
    const end = await this.#answerOf(at, spec, stepId, controller.signal);
    this.#answering.delete(at.actor);
    if (at.actor.getSnapshot().status === 'active') this.#end(at.actor, end);
    this.#options.wake();
  }

  async #answerOf(at: SurveyedActor, spec: AskSpec, stepId: string, signal: AbortSignal): Promise<StepEnd> {
    const { runtime } = this.#options;
    try {
      const task = { path: stepId, input: undefined, attempts: 0, retry: undefined, unknown: false };
      // Undeferred: neither has a retry policy.
      const run = await runStep(task, fallbackSpec(spec, runtime), runtime, signal);
      const { failed, value } = outcomeOf(
        spec,
        stepId,
        run.letter,
        'text' in run ? JSON.parse(run.text) : {},
      );
      if (failed) return { error: value };
      const result = (spec.kind === 'elicit' ? { action: 'accept', content: value ?? {} } : value) as Json;
      const end = await this.#accepted(at, spec, stepId, { result, provenance: 'server' });
      return 'reason' in end
        ? { error: invalidStep(stepId, `The fallback of '${stepId}' does not fit: ${end.reason}`) }
        : end;
    } catch (error) {
      return { error };
    }
  }

  #end(actor: LiveActor, end: StepEnd): void {
    actor.send({ type: 'mcp-saga.end', end });
  }

  #ignore(stepId: string, why: IgnoredAnswer['why']): void {
    this.ignored.push({ stepId, why });
  }
}

function invalidStep(stepId: string, message: string): StepError {
  return new StepError(stepId, { name: 'InvalidAnswer', message, code: invalidAnswer });
}

const needs: Readonly<Record<AskSpec['kind'], ClientNeed>> = {
  elicit: 'elicitation',
  elicitUrl: 'elicitation.url',
  sample: 'sampling',
  roots: 'roots',
};

function questionOf(spec: AskSpec): Question {
  return {
    need: needs[spec.kind],
    accept: 'accept' in spec ? spec.accept : undefined,
    hasFallback: spec.kind === 'elicit' && spec.fallback !== undefined,
  };
}
