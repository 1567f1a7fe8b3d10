/**
 * Names that other packages of this repository share with the server. Not for users: they change with any release.
 *
 * @module
 */
export {
  type ClientNeed,
  type Command,
  type InferInput,
  type InferOutput,
  type Root,
  type StepFacts,
} from '@mcp-saga/core';
export {
  nearestName,
  runtimeAfter,
  type CommitPoint,
  type CommittedTurn,
  type SuspendedOutcome,
  CodecError,
  decode,
  encode,
  engineVersion,
  validate,
  type ClientAnswer,
  type EndRequest,
  type HistoryEntry,
  type Outcome,
  type ProgramState,
  type Question,
  type Route,
  type Runtime,
  type SagaHistory,
  type StepCall,
  type StepEvent,
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
