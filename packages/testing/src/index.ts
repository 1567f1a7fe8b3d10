/** Runs sagas in unit tests: with a clock of their own, and everything that can go wrong. No server, no network. */
export { testSaga, TestSaga, type Fail, type On, type Times } from './test-saga.ts';
export { SagaRun, TimeTravel, type ForkAnswer } from './saga-run.ts';
export type {
  InputOf,
  OptionsParameter,
  ResultOf,
  TestHostOptions,
  TestSagaOptions,
} from './test-options.ts';
export type { Answer, AnySteps, Question, Sample, StandIn, StandInContext } from './ids.ts';
export { lineOf, Trace, type QuestionKind, type TraceEntry, type TraceEvent } from './trace.ts';
export { SagaTestError, type TestErrorCode } from './errors.ts';
export { Provider } from './provider.ts';
export type { Effect } from './ledger.ts';
export type { Rule } from './rules.ts';
export type { Point } from './play.ts';
export { sagaMatchers, type MatcherResult } from './matchers.ts';
export { recordSagas, type RecordSagasOptions } from './record-sagas.ts';
export { replayRecording, type ReplayOptions } from './replay-recording.ts';
export {
  formatRecording,
  type Recorded,
  type RecordedEnd,
  type RecordedEntry,
  type Recording,
  type Redact,
} from './recording.ts';
export {
  sagaCoverage,
  SagaCoverage,
  type CoverageOutcome,
  type OneSagaCoverage,
  type StepCoverage,
} from './coverage.ts';
export { testHost, TestHost, type WireHostOptions, type WireServerOptions } from './wire/test-host.ts';
export {
  WireClient,
  type WireClientOptions,
  type WireExchange,
  type WireResult,
} from './wire/wire-client.ts';
export { WireCut, WireError } from './wire/channel.ts';
export { tamper, type Tampered } from './wire/tamper.ts';
export type { WireAnswer, WireAnswers } from './wire/wire-answers.ts';
export { wireWays, type WireDialect, type WireEra, type WireWay } from './wire/ways.ts';
export { crashEverywhere, type CrashOptions } from './explore/crash-everywhere.ts';
export { failEverywhere } from './explore/fail-everywhere.ts';
export { forkEverywhere, type Fork, type ForkCheck, type ForkReport } from './explore/fork-everywhere.ts';
export { refuseEverywhere } from './explore/refuse-everywhere.ts';
export {
  upgradeEverywhere,
  type UpgradeOptions,
  type UpgradeProblem,
  type UpgradeReport,
} from './explore/upgrade-everywhere.ts';
export { assertDeterministic } from './explore/assert-deterministic.ts';
export type { ExploreOptions, ExploreReport } from './explore/exploration.ts';
