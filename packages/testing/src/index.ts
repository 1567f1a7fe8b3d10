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
export type { Effect } from './ledger.ts';
export type { Rule } from './rules.ts';
export type { Point } from './play.ts';
export { sagaMatchers, type MatcherResult } from './matchers.ts';
