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
export { recordSagas, type RecordedSaga, type RecordSagasOptions } from './record/record-sagas.ts';
export { joinRecording } from './record/join-recording.ts';
export { replayRecording } from './record/replay-recording.ts';
export type { ReplayOptions } from './record/replay-turns.ts';
export { formatRecording } from './record/format-recording.ts';
export type { Recorded, RecordedEnd, RecordedEvent, Redact } from './record/recorded.ts';
export type { JournalRecording, RecordedEntry, Recording } from './record/recording.ts';
export type {
  HostFacts,
  RecordedTurn,
  TurnBeginning,
  TurnEvent,
  TurnsRecording,
} from './record/turns-recording.ts';
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
export { upgradeEverywhere, type UpgradeOptions, type UpgradeReport } from './explore/upgrade-everywhere.ts';
export type { UpgradeProblem } from './explore/upgrade-problem.ts';
export { assertDeterministic } from './explore/assert-deterministic.ts';
export type { ExploreOptions, ExploreReport } from './explore/exploration.ts';
