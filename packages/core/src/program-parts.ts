/**
 * What makers of programs share with generator sagas, so that a machine asks, runs and undoes by the same rules. Not for
 * authors of sagas: it changes with any release.
 */
export { AnswerCheck } from './turn/answer-check.ts';
export { answerHere } from './effects/run-task.ts';
export { needOf, outcomeOf, toClientStep, type CommandSpec } from './effects/effect-of.ts';
export { command, specOf } from './effects/effect-of.ts';
export type { ElicitSpec, ElicitUrlSpec } from './effects/kinds/elicit.ts';
export type { RootsSpec } from './effects/kinds/roots.ts';
export type { SampleSpec } from './effects/kinds/sample.ts';
export type { StepUndo, UndoWork } from './model/command.ts';
export { isLargerThan, assertJson, InvalidJson } from './values/json.ts';
export { encodeError } from './values/step-error-data.ts';
export { generatorProgram } from './turn/generator-program.ts';
export { decodeHead, encodeHead, isSameState, type Head } from './journal/head.ts';
export { Journal } from './journal/journal.ts';
export { isDone, type EntryType } from './journal/entry-types.ts';
export { formatPlace, isJsonObject, isPlainObject, isRecord, type Place } from './values/json.ts';
export { digestOfStep } from './turn/turn-outcome.ts';
export { isUnsupported, routeOf, routeWithoutClient } from './effects/accept-answer.ts';
export { runStep, type StepEnd, type StepRun, type StepSpec } from './effects/kinds/step.ts';
export { defaultUndoRetry } from './undo/undo-all.ts';
export { answerGraceMs } from './turn/time/waits.ts';
export { runtimeAfter } from './turn/runtime-after.ts';
export { TurnClock } from './turn/time/clocks.ts';
export { TurnBudget } from './turn/turn-budget.ts';
export { AuthoringError, isAuthoringError } from './values/errors.ts';
export { sagaOptionNames } from './author/sagas/saga.ts';
export { present } from './values/json.ts';
export { assertKnownOptions, didYouMean, nearestName, optionNames } from './values/known-options.ts';
export type { CommitPoint, CommitReason, CommittedTurn, SuspendedOutcome, Outcome } from './model/outcome.ts';
export type { ClientAnswer } from './model/client-step.ts';
export type { Question, Route } from './model/question.ts';
export type { HistoryEntry, SagaHistory } from './model/history.ts';
export { engineVersion, type ProgramState } from './model/program-state.ts';
export type { ProgramLimits, Runtime, StepEvent } from './model/runtime.ts';
export type { EndRequest, Origin } from './model/program.ts';
export type { StepCall, StepGiven } from './model/step-call.ts';
export { orphan } from './turn/turn-without-code.ts';
export { decode, encode, CodecError } from './values/codec.ts';
export { toJsonSchema, validate } from './values/standard-schema.ts';
