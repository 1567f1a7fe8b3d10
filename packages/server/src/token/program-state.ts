import { decode, type Outcome, type Program, type ProgramState, type TimelineEntry } from '@mcp-saga/core';
import { isRecord, decodeHead } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';

type Reader = Partial<Pick<Program, 'timeline'>>;

/** `true` if the text is the head of a program state. */
export function isHead(text: string): boolean {
  try {
    const { turn, asked, waits } = decodeHead(text);
    return Number.isSafeInteger(turn) && isRecord(asked) && isRecord(waits);
  } catch {
    return false;
  }
}

/**
 * Takes one turn of a program from the state of a token.
 *
 * The state is checked only after a failure: parsing it first would take a tenth of the time of a turn.
 *
 * @throws TokenRefused with reason `malformed` for an unreadable state. Nothing ran. The error of the program is dropped,
 * because its message may quote the state.
 */
export async function advanceFrom(
  program: Pick<Program, 'advance'> & Reader,
  ...turn: Parameters<Program['advance']>
): Promise<Outcome> {
  const [state] = turn;
  let outcome: Outcome;
  try {
    outcome = await program.advance(...turn);
  } catch (error) {
    assertReadable(program, state);
    throw error;
  }
  const isUntouched =
    outcome.status === 'failed' && outcome.compensated.length + outcome.residue.length === 0;
  if (isUntouched) assertReadable(program, state);
  return outcome;
}

/**
 * Reads the timeline of the state of a token.
 *
 * @throws TokenRefused with reason `malformed` for an unreadable state
 */
export function readTimeline(
  program: Pick<Program, 'timeline'>,
  state: ProgramState,
): readonly TimelineEntry[] {
  assertReadable(program, state);
  return program.timeline(state);
}

function assertReadable(program: Reader, { structure, client, server, head }: ProgramState): void {
  try {
    JSON.parse(`[${structure}]`);
    for (const value of [client, server].flatMap(valuesIn)) decode(JSON.stringify(value));
    // Throws for entry types of newer releases.
    program.timeline?.({ structure, client, server, head });
  } catch {
    throw new TokenRefused('malformed');
  }
}

function valuesIn(text: string): readonly unknown[] {
  return JSON.parse(`[${text}]`) as readonly unknown[];
}
