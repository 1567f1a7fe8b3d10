import type { Json } from '../values/json.ts';
import type { Schema } from '../values/standard-schema.ts';
import type { CompleteVariable, UriTemplate } from '../values/uri-template.ts';
import type { Answerer } from './answerer.ts';
import type { ClientAnswer } from './client-step.ts';
import type { needsStore, SagaBody } from './command.ts';
import type { ClientNeed } from '../values/errors.ts';
import type { SagaHistory, TimelineEntry } from './history.ts';
import type { Outcome } from './outcome.ts';
import type { ProgramState } from './program-state.ts';
import type { Runtime } from './runtime.ts';
import type { ToolFields } from './tool-fields.ts';

/** Author of a value: the client, who then has the bytes, or code of the server. */
export type Origin = 'client' | 'server';

/**
 * A saga as a host sees it: facts, and what runs. A generator or a machine. It is data, so a module
 * that only defines sagas loads nothing that runs them.
 */
export interface Program extends Omit<ToolFields, 'annotations'> {
  readonly name: string;
  readonly version: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
  /** Kind of MCP feature that the saga serves. Default `tool`. */
  readonly serves?: 'tool' | 'prompt' | 'resource';
  /** URIs and contents of a saga that serves a resource. */
  readonly resource?: {
    readonly template: UriTemplate;
    readonly mimeType?: string;
    /** Completions of the template's variables, by name. */
    readonly complete?: { readonly [variable: string]: CompleteVariable | undefined };
  };
  /** Hints about the tool for clients: MCP's tool annotations. */
  readonly annotations: { readonly [key: string]: Json } | undefined;
  /**
   * `ok`: a client may use older tokens again. Undefined: with a store, each token counts once;
   * without one, undos, pivots, and `once` are refused.
   */
  readonly reuse?: 'ok' | undefined;
  /** `true` if the saga is known to need a store before it runs. */
  readonly needsStore?: true;
  /** The types of sagas with an undo, a pivot, or a `once` step have the key. Values never have. */
  readonly [needsStore]?: false;
  /** Capabilities that the client must have, checked before anything runs. */
  readonly needs: readonly ClientNeed[];
  /** Who may answer a question that does not say so itself, in this order. Default: see `saga`. */
  readonly answeredBy?: readonly Answerer[];
  /**
   * `prefer`: clients that support MCP tasks get a task. `require`: other clients are refused, too.
   */
  readonly task: 'prefer' | 'require' | undefined;
  /** `false`: the saga never asks and never waits. Default: it may suspend. */
  readonly suspends?: false;
  /** Older versions that continue their sagas beside this version, each until its date. */
  readonly previous: readonly PreviousProgram[];
  /** Commits the result of each step before the next one runs. Default `false`. */
  readonly commitEach?: boolean;
  /** Policy for a saga that no longer fits the code: it fails, or is undone as far as possible. */
  readonly onMismatch: 'fail' | 'compensate';
  /** Body of a saga that is a generator function. Absent: the `engine` knows what runs. */
  readonly body?: SagaBody<never, unknown>;
  /** Takes the turns of the saga. Default: the engine for generators runs the `body`. */
  readonly engine?: SagaEngine;
}

/** What has an engine: a program, or an engine alone if the code of a saga is missing. */
export type Runnable = Program | ({ readonly engine: SagaEngine } & Partial<Program>);

/**
 * Takes the turns of a saga. All that it knows between two turns is the state. `engineOf` returns the
 * engine of a program.
 */
export interface SagaEngine {
  /**
   * Parses the arguments and makes the first state. Throws {@link InvalidInput}. `progress`: last
   * progress before `continueAs`. `origin`: author of the arguments. Arguments of the `server` are
   * never compressed. Default `client`.
   */
  begin(args: Json, progress?: number, origin?: Origin): Promise<ProgramState>;
  /** One turn. Rejects with `TurnAborted` or `AnswerConflict`; everything else is an outcome. */
  advance(
    state: ProgramState,
    answers: ReadonlyMap<string, ClientAnswer>,
    runtime: Runtime,
    end?: EndRequest,
  ): Promise<Outcome>;
  /** IDs of the open questions of a state. */
  asked(state: ProgramState): readonly string[];
  /** Events that a state records. */
  timeline(state: ProgramState): readonly TimelineEntry[];
  /** Events with values, answers, and results: for recordings, never for logs. */
  readonly history?: (state: ProgramState) => SagaHistory;
  /** Converts a history to the state of a saga, for a replay. */
  readonly restore?: (history: SagaHistory) => ProgramState;
}

/**
 * Ends a saga from outside and undoes its steps: the saga was cancelled, or its state cannot be
 * kept.
 */
export interface EndRequest {
  readonly error: unknown;
}

/** An older version of a program. */
export interface PreviousProgram {
  readonly saga: Program;
  /** Time from which sagas of this version are not continued. Default: never. */
  readonly until?: Date;
}

/** `true` for a value that a host can run. */
export function isProgram(value: unknown): value is Program {
  const { body, engine } = Object(value) as Partial<Program>;
  return typeof body === 'function' || typeof engine?.advance === 'function';
}
