/** Runs sagas in unit tests, with a virtual clock and every failure. No server, no network. */
export { testSaga, TestSaga, type Fail, type On, type Times } from './run/test-saga.ts';
export { SagaRun, TimeTravel, type ForkAnswer } from './run/saga-run.ts';
export type {
  InputOf,
  OptionsParameter,
  ResultOf,
  ProviderObserver,
  TestHostOptions,
  TestProvider,
  TestSagaOptions,
} from './script/test-options.ts';
export type {
  Answer,
  AnySteps,
  OutsideGiven,
  Question,
  Sample,
  StandIn,
  StandInContext,
} from './script/script-answers.ts';
export {
  lineOf,
  Trace,
  type QuestionKind,
  type TraceEntry,
  type TraceEvent,
} from './report/trace.ts';
export { SagaTestError, type TestErrorCode } from './values/errors.ts';
export { Provider } from './world/provider.ts';
export type { Effect } from './world/world-effects.ts';
export type { Rule } from './script/script-rules.ts';
export type { Point } from './world/world.ts';
export { sagaMatchers, type MatcherResult } from './report/matchers.ts';
export { recordSagas, type RecordedSaga, type RecordSagasOptions } from './record/record-sagas.ts';
export { joinRecording } from './record/join-recording.ts';
export { replayRecording, type ReplayOptions } from './record/replay/replay-recording.ts';
export { formatRecording } from './record/format-recording.ts';
export type {
  HostFacts,
  Recorded,
  RecordedEnd,
  RecordedEvent,
  RecordedTurn,
  Recording,
  Redact,
  TurnBeginning,
} from './record/recording.ts';
export {
  sagaCoverage,
  SagaCoverage,
  type CoverageOutcome,
  type OneSagaCoverage,
  type StepCoverage,
} from './report/coverage.ts';
export {
  testHost,
  TestHost,
  type WireHostOptions,
  type WireServerOptions,
} from './wire/test-host.ts';
export { WireClient, type WireClientOptions, type WireEra } from './wire/wire-client.ts';
export { WireCut } from './wire/cutter.ts';
export type { WireAnswer, WireAnswers } from './wire/wire-client-answers.ts';
export { crashEverywhere, type CrashOptions } from './explore/crash-everywhere.ts';
export { failEverywhere } from './explore/fail-everywhere.ts';
export {
  forkEverywhere,
  type Fork,
  type ForkCheck,
  type ForkReport,
} from './explore/fork-everywhere.ts';
export { refuseEverywhere } from './explore/refuse-everywhere.ts';
export {
  upgradeEverywhere,
  type UpgradeOptions,
  type UpgradeReport,
} from './explore/upgrade-everywhere.ts';
export type { UpgradeProblem } from './explore/upgrade-problem.ts';
export { assertDeterministic } from './explore/assert-deterministic.ts';
export type { ExploredCase, ExploreOptions, ExploreReport } from './explore/exploration.ts';
