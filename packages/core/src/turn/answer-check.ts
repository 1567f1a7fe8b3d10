import { acceptAnswer, isAccepted, isUnsupported } from '../effects/accept-answer.ts';
import { toClientStep, type EffectSpec } from '../effects/effect-of.ts';
import type { Acceptance } from '../effects/parts/effect.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { IgnoredAnswer } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnAborted } from '../values/errors.ts';
import { digestOfStep } from './turn-outcome.ts';

/** The saga whose answers are checked. */
export interface AnsweredSaga {
  readonly name: string;
  readonly runtime: Runtime;
  /** Digests of the questions that were asked last, by step ID. */
  readonly asked: { readonly [stepId: string]: string };
  /** Advice for authors of questions that vary. */
  readonly advice: string;
}

/** Checks the answers of a client, and notes what became of them. Generators and machines share the rules. */
export class AnswerCheck {
  /** Answers that were not used, and why. */
  ignored: IgnoredAnswer[] = [];
  /** Why a question is asked again, by step ID. */
  readonly reasons: Map<string, string> = new Map();
  /** Number of answers that were accepted. */
  accepted = 0;

  readonly #saga: AnsweredSaga;

  constructor(saga: AnsweredSaga) {
    this.#saga = saga;
  }

  /** Checks an answer. Undefined if it is not used; `unsupported` if the client does not have the method. */
  async check(
    spec: EffectSpec,
    stepId: string,
    answer: ClientAnswer,
  ): Promise<Extract<Acceptance, { entry: unknown }> | 'unsupported' | undefined> {
    const { name, runtime, asked, advice } = this.#saga;
    const step = toClientStep(spec, stepId);
    const digest = step === undefined ? undefined : await digestOfStep(runtime, step);
    // The answer is to what was asked before under the same ID. (T6)
    if (!Object.hasOwn(asked, stepId) || asked[stepId] !== digest) {
      this.#ask(
        stepId,
        'asked otherwise',
        'the question has changed since it was asked: please answer it as it is now',
      );
      // Asked otherwise in every turn, it is never answered.
      runtime.warn?.(
        `Saga '${name}' asks '${stepId}' otherwise than before, so its answer was not used. Was it changed, or is its ` +
          `message made of something that varies? ${advice}`,
      );
      return undefined;
    }
    if (!isAccepted(spec, answer.provenance, runtime)) {
      this.#ask(stepId, 'not accepted', 'this question must be answered by the user, not by the model');
      return undefined;
    }
    if (isUnsupported(answer)) return 'unsupported';
    const observed = { kind: spec.kind, path: stepId };
    const acceptance = await acceptAnswer(spec, answer, runtime.limits, (error) =>
      runtime.observe({ ...observed, type: 'failed', error }),
    );
    if (runtime.signal.aborted) throw new TurnAborted(runtime.signal.reason);
    if ('reason' in acceptance) {
      this.#ask(stepId, 'invalid', acceptance.reason);
      return undefined;
    }
    this.accepted += 1;
    runtime.observe({ ...observed, type: 'answered' });
    return acceptance;
  }

  /** Notes an answer that is not used. */
  ignore(stepId: string, why: IgnoredAnswer['why']): void {
    this.ignored.push({ stepId, why });
  }

  /** The question is asked again. */
  #ask(stepId: string, why: IgnoredAnswer['why'], reason: string): void {
    this.reasons.set(stepId, reason);
    this.ignore(stepId, why);
  }
}
