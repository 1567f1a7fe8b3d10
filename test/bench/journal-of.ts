import { createHash } from 'node:crypto';
import type { ClientStep, Json, Program } from '@mcp-saga/core';
import type { ClientAnswer, ProgramState, Runtime } from '@mcp-saga/core/program';

/**
 * Runs a program from its start, answering each form with what `content` gives, until a question named `last`; or to
 * its end, and then the state is the last one there was.
 */
export async function journalOf(
  program: Program,
  args: Json,
  content: (step: ClientStep) => Json,
): Promise<{ readonly state: ProgramState; readonly runtime: Runtime }> {
  const runtime = idleRuntime();
  let state = await program.begin(args);
  let answers = new Map<string, ClientAnswer>();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    const outcome = await program.advance(state, answers, runtime);
    if (outcome.status !== 'suspended') return { state: fromToken(state), runtime };
    ({ state } = outcome);
    const asked = outcome.steps[0];
    if (asked === undefined || asked.stepId.replace(/@\d+$/, '') === 'last')
      return { state: fromToken(state), runtime };
    const result = { action: 'accept', content: content(asked) };
    answers = new Map([[asked.stepId, { result, provenance: 'client' }]]);
  }
}

/** The texts as they come out of a token: each in one piece, not as the chain of pieces it was put together from. */
function fromToken(state: ProgramState): ProgramState {
  const [head, structure, client, server] = [state.head, state.structure, state.client, state.server].map(
    (text) => Buffer.from(text, 'utf8').toString('utf8'),
  ) as [string, string, string, string];
  return { head, structure, client, server };
}

/** What a turn may do, without a host: no clock, no randomness, no hooks. */
function idleRuntime(): Runtime {
  return {
    sagaId: 'bench',
    turn: 1,
    engine: 1,
    tokenBytes: 0,
    suggestedTokenBytes: 16_384,
    maxHold: 0,
    maxWait: Number.POSITIVE_INFINITY,
    holdsParts: false,
    commitsEach: false,
    route: () => 'ask',
    accepts: () => true,
    sample: () => {
      throw new Error('nobody samples here');
    },
    claim: undefined,
    compensator: () => undefined,
    capabilities: undefined,
    context: undefined,
    signal: new AbortController().signal,
    now: () => 0,
    random: () => 0,
    sleep: async () => {},
    deadline: undefined,
    idempotencyKey: (path, key, direction) => `${path} ${key ?? ''} ${direction}`,
    checkResult: async (result) => result,
    randomBytes: () => new Uint8Array(32),
    digest: (text) => createHash('sha256').update(text).digest('base64url').slice(0, 16),
    progress: () => {},
    log: () => {},
    observe: () => {},
    warn: undefined,
    limits: { maxJournalEntries: 10_000, maxCommands: 100_000 },
  };
}
