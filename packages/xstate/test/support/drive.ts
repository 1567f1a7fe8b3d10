import { engineOf } from '@mcp-saga/core/program';
import type { Json, Program } from '@mcp-saga/core';
import type { ClientAnswer, Outcome } from '@mcp-saga/core/program';
import { runtimeOf, World, type TurnSettings } from '../../../core/test/support/world.ts';

type Suspended = Extract<Outcome, { readonly status: 'suspended' }>;

/** One saga in a test, turn by turn, without a host. Each turn gets only the state. */
export class Drive {
  readonly world = new World();
  outcome: Outcome | undefined;
  program: Program;
  #turn = 0;

  constructor(program: Program) {
    this.program = program;
  }

  /** Starts it. */
  async start(args: Json = {}, settings: TurnSettings = {}): Promise<Outcome> {
    this.#turn = 1;
    const state = await engineOf(this.program).begin(args);
    this.outcome = await engineOf(this.program).advance(state, new Map(), this.#runtime(settings));
    return this.outcome;
  }

  /** Continues with answers by step ID, as the contents of results. */
  async resume(
    answers: Readonly<Record<string, Json>> = {},
    settings: TurnSettings = {},
  ): Promise<Outcome> {
    this.#turn += 1;
    const given = Object.entries(answers).map(([stepId, result]): [string, ClientAnswer] => [
      stepId,
      { result, provenance: 'client' },
    ]);
    this.outcome = await engineOf(this.program).advance(
      this.suspended.state,
      new Map(given),
      this.#runtime(settings),
    );
    return this.outcome;
  }

  /** Ends it from outside. */
  async end(error: unknown, settings: TurnSettings = {}): Promise<Outcome> {
    this.#turn += 1;
    return await engineOf(this.program).advance(
      this.suspended.state,
      new Map(),
      this.#runtime(settings),
      {
        error,
      },
    );
  }

  /** The outcome of the turn before, which must have been suspended. */
  get suspended(): Suspended {
    if (this.outcome?.status !== 'suspended') {
      const { error } = (this.outcome ?? {}) as { readonly error?: unknown };
      throw new Error(`It is ${this.outcome?.status}.`, { cause: error });
    }
    return this.outcome;
  }

  /** The ids of the steps that are asked. */
  get asked(): readonly string[] {
    return this.suspended.steps.map(({ stepId }) => stepId);
  }

  #runtime(settings: TurnSettings): ReturnType<typeof runtimeOf> {
    return runtimeOf(this.world, { budget: 1_000_000, maxHold: 0, turn: this.#turn, ...settings });
  }
}

/** An accepted form. */
export function accept(content: Json): Json {
  return { action: 'accept', content };
}

/** What a model said. */
export function said(text: string): Json {
  return { role: 'assistant', model: 'm', content: { type: 'text', text } };
}

/** The error of a failed saga, and its undone steps. */
export function failureOf(outcome: Outcome): Extract<Outcome, { readonly status: 'failed' }> {
  if (outcome.status !== 'failed') throw new Error(`It is ${outcome.status}.`);
  return outcome;
}
