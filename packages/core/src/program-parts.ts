/**
 * What makers of programs share with generator sagas, so that a machine asks, runs and undoes by the same rules. Not for
 * authors of sagas: it changes with any release.
 */
export { acceptAnswer } from './accept-answer.ts';
export { answerHere } from './answer-here.ts';
export { toClientStep } from './client-steps.ts';
export { command, specOf } from './model/make-command.ts';
export type {
  ElicitSpec,
  ElicitUrlSpec,
  RootsSpec,
  SampleSpec,
  StepSpec,
  StepUndo,
  UndoWork,
} from './model/command.ts';
export { isLargerThan } from './json.ts';
export { needOf } from './outcome-of.ts';
export { encodeError } from './step-error-data.ts';
export { generatorProgram } from './generator-program.ts';
export { decodeHead, encodeHead, isSameState, type Head } from './head.ts';
export { Journal } from './journal.ts';
export type { Letter } from './letters.ts';
export { formatPlace, isPlainObject, type Place } from './json.ts';
export { outcomeOf } from './outcome-of.ts';
export { digestOfStep } from './outcome-of-turn.ts';
export { isAccepted, isUnsupported, routeOf, routeWithoutClient } from './routes.ts';
export { runStep, type StepEnd, type StepRun } from './run-step.ts';
export { defaultUndoRetry } from './undo.ts';
export { answerGraceMs } from './waits.ts';
