/**
 * Names that other packages of this repository share with the server. Not for users: they change with any release.
 *
 * @module
 */
export {
  CodecError,
  decode,
  encode,
  engineVersion,
  validate,
  type ClientAnswer,
  type ClientNeed,
  type Command,
  type EndRequest,
  type HistoryEntry,
  type InferInput,
  type InferOutput,
  type Outcome,
  type ProgramState,
  type Question,
  type Root,
  type Route,
  type Runtime,
  type SagaHistory,
  type StepCall,
  type StepEvent,
  type StepFacts,
} from '@mcp-saga/core';
export {
  nearestName,
  runtimeAfter,
  type CommitPoint,
  type CommittedTurn,
  type SuspendedOutcome,
} from '@mcp-saga/core/program';
export type { Fence } from './model/guard.ts';
export type { TaskOptions, TestingOptions } from './model/host-options.ts';
export type {
  StepSpan,
  TracedEnd,
  TracedEvent,
  TracedStep,
  TracedTurn,
  TurnSpan,
} from './model/telemetry.ts';
