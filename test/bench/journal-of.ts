import type { ClientStep, Json, Program } from '@mcp-saga/core';
import {
  type ClientAnswer,
  type ProgramState,
  type Runtime,
  engineOf,
} from '@mcp-saga/core/program';
import { digestText } from '@mcp-saga/seal';

/**
 * Runs a program from its start up to the question named `last`, or to its end. `content` returns
 * the answer to each form. Returns the last state.
 */
export async function journalOf(
  program: Program,
  args: Json,
  content: (step: ClientStep) => Json,
): Promise<{ readonly state: ProgramState; readonly runtime: Runtime }> {
  const runtime = idleRuntime();
  let state = await engineOf(program).begin(args);
  let answers = new Map<string, ClientAnswer>();
  for (;;) {
    const outcome = await engineOf(program).advance(state, answers, runtime);
    if (outcome.status !== 'suspended') return { state: fromToken(state), runtime };
    ({ state } = outcome);
    const asked = outcome.steps[0];
    if (asked === undefined || asked.stepId.replace(/@\d+$/, '') === 'last')
      return { state: fromToken(state), runtime };
    const result = { action: 'accept', content: content(asked) };
    answers = new Map([[asked.stepId, { result, provenance: 'client' }]]);
  }
}

/**
 * Converts the strings of a state to flat strings like those of an opened token, without
 * concatenation ropes.
 */
function fromToken(state: ProgramState): ProgramState {
  const [head, structure, client, server] = [
    state.head,
    state.structure,
    state.client,
    state.server,
  ].map((text) => Buffer.from(text, 'utf8').toString('utf8')) as [string, string, string, string];
  return { head, structure, client, server };
}

/** Runtime without a host: no clock, no randomness, no hooks. */
function idleRuntime(): Runtime {
  return {
    saga: { generation: 0, id: 'bench', checkResult: async (result) => result },
    turn: { number: 1, tokenBytes: 0, deadline: undefined, commitsEach: false },
    request: { capabilities: undefined, user: undefined, signal: new AbortController().signal },
    time: {
      now: () => 0,
      sleep: async () => {},
      random: () => 0,
      maxHold: 0,
      holdsParts: false,
      maxWait: Number.POSITIVE_INFINITY,
    },
    questions: {
      route: () => 'ask',
      accepts: () => true,
      sample: () => {
        throw new Error('nobody samples here');
      },
      digest: async (text) => (await digestText(text)).slice(0, 16),
    },
    effects: {
      services: undefined,
      claim: undefined,
      compensator: () => undefined,
      idempotencyKey: (path, key, direction) => `${path} ${key ?? ''} ${direction}`,
      randomBytes: () => new Uint8Array(32),
    },
    observer: { notify: () => {}, observe: () => {}, warn: undefined },
    limits: {
      maxJournalEntries: 10_000,
      maxCommands: 100_000,
      suggestedTokenBytes: 16_384,
    },
  };
}
