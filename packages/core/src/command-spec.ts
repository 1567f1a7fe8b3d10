import type { Command, Steps } from './command.ts';
import type { SampleParams } from './client-step.ts';
import type { Schema } from './standard-schema.ts';
import type { RetryPolicy } from './retry.ts';
import type { Json } from './json.ts';
import type { SagaBody } from './saga.ts';

/** Asks the user with a form. */
export interface ElicitSpec {
  readonly kind: 'elicit';
  readonly id: string;
  readonly message: string;
  readonly schema: Schema;
  /** Whether a refusal comes back as a value instead of being thrown. */
  readonly asOutcome: boolean;
}

/** Sends the user to a URL. */
export interface ElicitUrlSpec {
  readonly kind: 'elicitUrl';
  readonly id: string;
  readonly message: string;
  readonly url: string;
}

/** Asks the client's model. */
export interface SampleSpec {
  readonly kind: 'sample';
  readonly id: string;
  readonly params: SampleParams;
}

/** Asks for the client's roots. */
export interface RootsSpec {
  readonly kind: 'roots';
  readonly id: string;
}

/** Runs a side effect on the server. */
export interface StepSpec {
  readonly kind: 'step';
  readonly id: string;
  readonly run: (context: never) => unknown;
  readonly input: Json | undefined;
  readonly key: string | undefined;
  readonly keep: boolean;
  readonly compress: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly timeout: number | undefined;
}

/** Reads something that varies, and journals it. */
export interface ReadSpec {
  readonly kind: 'now' | 'random' | 'uuid' | 'info';
  readonly id: string;
}

/** Hands the client a fresh token with nothing to do. */
export interface CheckpointSpec {
  readonly kind: 'checkpoint';
  readonly id: string;
}

/** Tells the client something, once. */
export type TellSpec =
  | {
      readonly kind: 'progress';
      readonly value: number;
      readonly total: number | undefined;
      readonly message: string | undefined;
    }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly data: Json };

/** The levels of MCP's log messages. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Runs branches in parallel. */
export interface GroupSpec {
  readonly kind: 'all' | 'allSettled';
  readonly branches: readonly { readonly key: string; readonly steps: Command<unknown> | Steps<unknown> }[];
  readonly shape: 'record' | 'array';
}

/** Runs a helper in a scope of its own. */
export interface ScopeSpec {
  readonly kind: 'scope';
  readonly id: string;
  readonly steps: Command<unknown> | Steps<unknown>;
}

/** Runs another saga as a part of this one. */
export interface CallSpec {
  readonly kind: 'call';
  readonly id: string;
  readonly input: Schema | undefined;
  readonly args: unknown;
  readonly body: SagaBody<never, unknown>;
}

/** Everything a saga can yield, by kind. */
export type CommandSpec =
  | ElicitSpec
  | ElicitUrlSpec
  | SampleSpec
  | RootsSpec
  | StepSpec
  | ReadSpec
  | CheckpointSpec
  | TellSpec
  | GroupSpec
  | ScopeSpec
  | CallSpec;

/** The specs whose outcome becomes a journal entry of its own. */
export type JournalledSpec = Exclude<CommandSpec, TellSpec | GroupSpec | ScopeSpec>;

/** Whether a command waits for the client, and not for something that runs here. */
export function isAskedOfClient(kind: CommandSpec['kind']): boolean {
  return (
    kind === 'elicit' ||
    kind === 'elicitUrl' ||
    kind === 'sample' ||
    kind === 'roots' ||
    kind === 'checkpoint'
  );
}
