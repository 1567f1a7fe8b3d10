import type { Json } from '../values/json.ts';
import type { Schema } from '../values/standard-schema.ts';
import type { CompleteVariable, UriTemplate } from '../values/uri-template.ts';
import type { ClientAnswer } from './client-step.ts';
import type { ClientNeed } from '../values/errors.ts';
import type { SagaHistory, TimelineEntry } from './history.ts';
import type { Outcome } from './outcome.ts';
import type { ProgramState } from './program-state.ts';
import type { Runtime } from './runtime.ts';
import type { ToolFields } from './tool-fields.ts';

/** Author of a value: the client, which then has its bytes, or code of the server. */
export type Origin = 'client' | 'server';

/** A saga as a host sees it: begins with arguments and advances by answers. A generator or a machine. */
export interface Program extends Omit<ToolFields, 'annotations'> {
  readonly name: string;
  readonly version: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly input: Schema | undefined;
  readonly output: Schema | undefined;
  /** What of MCP's it serves. Default `tool`. */
  readonly serves?: 'tool' | 'prompt' | 'resource';
  /** Which URIs it answers, and what it gives for them: of one that serves a resource. */
  readonly resource?: {
    readonly template: UriTemplate;
    readonly mimeType?: string;
    /** Completions of the template's variables, by name. */
    readonly complete?: { readonly [variable: string]: CompleteVariable | undefined };
  };
  /** Hints about the tool for clients: MCP's tool annotations. */
  readonly annotations: { readonly [key: string]: Json } | undefined;
  /** What an older token used again may do here; undefined: not declared. (E7) */
  readonly forks: 'refuse' | 'accept' | undefined;
  /** What the client must be able to do, checked before anything runs. (W3) */
  readonly needs: readonly ClientNeed[];
  /** Whether the model that calls the tool may answer for the user; undefined: as the host says. (T14) */
  readonly modelAnswers: 'accept' | undefined;
  /** Whether a client that knows MCP's tasks gets one; `require`: other clients are refused. */
  readonly task: 'prefer' | 'require' | undefined;
  /** Older versions that go on beside this one, each until its date. (R5) */
  readonly previous: readonly PreviousProgram[];
  /** Whether what each step did is kept before the next one runs. Default false. (E1) */
  readonly commitEach?: boolean;
  /** What becomes of a saga that no longer fits the code: it fails, or is undone as far as possible. (R3) */
  readonly onMismatch: 'fail' | 'compensate';
  /**
   * Parses the arguments and makes the first state. Throws {@link InvalidInput}. `progress`: last progress of a saga that continues as
   * this one. `origin`: author of the arguments; those of `server` are never compressed. Default `client`.
   */
  begin(args: Json, progress?: number, origin?: Origin): Promise<ProgramState>;
  /** One turn. Rejects with `TurnAborted` or `AnswerConflict`; everything else is an outcome. */
  advance(
    state: ProgramState,
    answers: ReadonlyMap<string, ClientAnswer>,
    runtime: Runtime,
    end?: EndRequest,
  ): Promise<Outcome>;
  /** The ids of the steps a state waits for: what answers can be news to. */
  asked(state: ProgramState): readonly string[];
  /** What a state says happened so far. */
  timeline(state: ProgramState): readonly TimelineEntry[];
  /** The same with its values, answers and results included: for recordings, never for logs. */
  readonly history?: (state: ProgramState) => SagaHistory;
  /** The state of a saga with that history: what replay finds in it is what it was given. */
  readonly restore?: (history: SagaHistory) => ProgramState;
}

/** Ends a saga from outside and undoes what it did: it was cancelled, or cannot be kept. */
export interface EndRequest {
  readonly error: unknown;
}

/** An older version of a program. */
export interface PreviousProgram {
  readonly saga: Program;
  /** After this time it is not gone on with. Default: never. */
  readonly until?: Date;
}
