import type { SagaRuleName } from '../../src/index.ts';
import type { Cases } from '../support/cases.ts';
import { cases as awaitInStep } from './await-in-step.ts';
import { cases as deterministicBody } from './deterministic-body.ts';
import { cases as readAnswers } from './read-answers.ts';
import { cases as requireYieldStar } from './require-yield-star.ts';

/** The cases of all rules. */
export const allCases: Readonly<Record<SagaRuleName, Cases>> = {
  'await-in-step': awaitInStep,
  'deterministic-body': deterministicBody,
  'read-answers': readAnswers,
  'require-yield-star': requireYieldStar,
};
