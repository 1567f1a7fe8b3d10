/**
 * Parts that makers of programs share with generator sagas. Not for authors of sagas: any release
 * may change the parts.
 */
export { AnswerCheck, changedQuestion, questionHasChanged } from './turn/answers.ts';
export type {
  IsGuarded,
  NeedsStore,
  StoreNeed,
  StoreOptions,
} from './author/checks/yielded-commands.ts';
export { logLevels } from './author/tell.ts';
export { approvalSteps } from './author/outside/approval.ts';
export { waitForSteps } from './author/outside/wait-for.ts';
export {
  recordedBytes,
  toApprovalAnswer,
  toReceivedEvent,
} from './author/outside/decide-by-answers.ts';
export { firstOfEach, isSameUser, mayBeOnePerson } from './author/outside/one-person.ts';
export { answerHere } from './effects/end-task.ts';
export { needOf, outcomeOf, toClientStep, type CommandSpec } from './effects/effect-of.ts';
export { command, specOf } from './effects/make-command.ts';
export type { ElicitSpec, ElicitUrlSpec } from './effects/kinds/elicit.ts';
export type { RootsSpec } from './effects/kinds/roots.ts';
export { samplingNeed, type SampleSpec } from './effects/kinds/sample.ts';
export type { StepUndo, UndoWork } from './model/command.ts';
export { isClearlyLargerThan, isLargerThan, assertJson, InvalidJson } from './values/json.ts';
export { encodeError, toStepErrorData } from './values/step-error-data.ts';
export { engineOf, generatorEngine } from './turn/generator-engine.ts';
export { isProgram } from './model/program.ts';
export { decodeHead, encodeHead, isSameState, type Head } from './journal/head.ts';
export { Journal } from './journal/journal.ts';
export { MalformedState } from './journal/malformed-state.ts';
export { historyOf } from './journal/read-history.ts';
export { receiptsIn } from './journal/receipts.ts';
export { isDone, type EntryType } from './journal/entry-types.ts';
export {
  formatPlace,
  isJsonObject,
  isPlainObject,
  isRecord,
  isTexts,
  type Place,
} from './values/json.ts';
export { digestOfStep, waitingOutcome } from './turn/turn-outcome.ts';
export { isUnsupported, routeOf, routeWithoutClient } from './effects/end-task.ts';
export { keyText } from './effects/parts/run-code.ts';
export {
  isUnknownOutcome,
  isVitalStep,
  retryEntry,
  runStep,
  type StepEnd,
  type StepRun,
  type StepSpec,
} from './effects/kinds/step.ts';
export { noteAttempts, type Attempts } from './replay/fiber.ts';
export { defaultUndoRetry } from './undo/undo-all.ts';
export { answerGraceMs } from './turn/time/waits.ts';
export { mayHaveRun, runtimeAfter } from './turn/interrupted-run.ts';
export { TurnClock } from './turn/time/clocks.ts';
export { Room, reserveOfQuestions, sealedBytes, type PendingRoom } from './turn/room.ts';
export { TurnBudget } from './turn/turn-budget.ts';
export { commitState } from './turn/commit-state.ts';
export {
  AuthoringError,
  errorLink,
  isAuthoringError,
  linkOf,
  troubleshootingLink,
  withoutLink,
} from './values/errors.ts';
export { completePolicy, retryNames, type RetryPlan } from './values/retry.ts';
export { sagaOptionNames } from './author/sagas/saga.ts';
export { present } from './values/json.ts';
export { withoutKeys } from './values/path.ts';
export { assertKnownOptions } from './values/known-options.ts';
export type {
  CommitPoint,
  CommitReason,
  CommittedTurn,
  SuspendedOutcome,
  Outcome,
} from './model/outcome.ts';
export type { ClientAnswer } from './model/client-step.ts';
export type {
  CloseReason,
  OutsideAnswer,
  OutsideQuestion,
  RuntimeOutside,
  TicketFacts,
} from './model/outside.ts';
export type { FormSchema } from './values/form.ts';
export { isBlank } from './values/form-content.ts';
export type { Question, Route } from './model/question.ts';
export type { HistoryEntry, SagaHistory } from './model/history.ts';
export { engineVersion, type ProgramState } from './model/program-state.ts';
export type { ProgramLimits, Runtime, StepEvent } from './model/runtime.ts';
export type { EndRequest, Origin, Runnable, SagaEngine } from './model/program.ts';
export type { StepCall, StepGiven } from './model/step-context.ts';
export { orphan } from './turn/turn-without-code.ts';
export { decode, encode, revive, CodecError } from './values/codec.ts';
export { toJsonSchema, validate } from './values/standard-schema.ts';
