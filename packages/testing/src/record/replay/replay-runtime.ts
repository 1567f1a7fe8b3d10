import { type Program } from '@mcp-saga/server';
import { validate, type Runtime } from '@mcp-saga/server/internal';

/** Members of the runtime that a replay sets. The others set no limits, ask the client everything, and report nothing. */
export type ReplayedParts = Partial<Runtime> & Pick<Runtime, 'turn' | 'engine' | 'signal' | 'perform'>;

/** Makes a runtime that runs only what `parts` runs. */
export function replayRuntime(program: Program, parts: ReplayedParts): Runtime {
  const unlimited = Number.POSITIVE_INFINITY;
  return {
    sagaId: 'replayed',
    tokenBytes: 0,
    suggestedTokenBytes: unlimited,
    capabilities: undefined,
    context: undefined,
    now: () => 0,
    random: () => 0,
    sleep: () => Promise.resolve(),
    deadline: undefined,
    maxHold: 0,
    maxWait: unlimited,
    holdsParts: false,
    commitsEach: false,
    route: () => 'ask',
    accepts: () => true,
    sample: () => {
      throw new TypeError('Nothing is sampled in a replay.');
    },
    claim: () => true,
    compensator: () => undefined,
    checkResult: (result) => checkOutput(program, result),
    idempotencyKey: (path) => path,
    randomBytes: () => new Uint8Array(32),
    digest: (text) => text,
    progress: () => undefined,
    log: () => undefined,
    observe: () => undefined,
    warn: undefined,
    limits: { maxJournalEntries: unlimited, maxCommands: unlimited },
    ...parts,
  };
}

/** @throws TypeError if a result does not fit the schema of its saga */
async function checkOutput({ output }: Program, result: unknown): Promise<unknown> {
  if (output === undefined) return result;
  const parsed = await validate(output, result);
  if (!parsed.ok) throw new TypeError(`The result is not what the saga declares: ${parsed.issues}`);
  return parsed.value;
}
