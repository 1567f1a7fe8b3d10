import type { Chart } from '@mcp-saga/xstate/internal';
import type { CompiledFile } from '../../model/session.ts';

export type MachineStep =
  | { readonly type: 'send'; readonly to: string; readonly event: { readonly type: string } }
  | { readonly type: 'resolve' | 'reject'; readonly actor: string; readonly value: unknown }
  | { readonly type: 'skip'; readonly toMs: number };

/** Code of a machine, its input, and all steps. The worker keeps nothing, and runs them again. */
export interface MachineRequest {
  readonly files: readonly CompiledFile[];
  readonly input: unknown;
  readonly steps: readonly MachineStep[];
}

export type Timer = Readonly<Record<'machine' | 'type' | 'name', string>> & {
  readonly dueMs: number;
};

export type WaitingActor = Readonly<Record<'id' | 'name', string>>;

/** Running machine: of the page, or invoked or spawned by another one. */
export interface RunningMachine {
  /** The same after the same steps. */
  readonly key: string;
  readonly name: string;
  readonly chart: Chart;
  readonly active: readonly string[];
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  /** JSON, as the output or the error. */
  readonly context: string;
  readonly result: string | undefined;
}

export interface MachineView {
  /**
   * The machine of the page, and active machines that it invoked or spawned, in the order of their
   * start.
   */
  readonly machines: readonly RunningMachine[];
  readonly nowMs: number;
  readonly timers: readonly Timer[];
  readonly actors: readonly WaitingActor[];
  /** The start and each step, with the state value after it. */
  readonly history: readonly { readonly what: string; readonly value: string }[];
  /** Mistake of a step that does not fit. The history ends before the step. */
  readonly problem: string | undefined;
}
