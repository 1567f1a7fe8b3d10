import type { Readable, Writable } from 'node:stream';
import { type CommonOptions, isCancel } from '@clack/prompts';

/** Where a person is asked. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Takes the question away. */
  readonly signal?: AbortSignal;
}

/** The person pressed Esc: leaves this question. */
export class QuestionLeft extends Error {
  constructor() {
    super('The question was left');
  }
}

/** The person pressed Ctrl-C or Ctrl-D: leaves altogether. */
export class RunLeft extends Error {
  constructor() {
    super('Stopped');
  }
}

interface Key {
  readonly name?: string;
  readonly ctrl?: boolean;
}

/**
 * Shows one prompt of clack and gives what was answered.
 *
 * @throws QuestionLeft on Esc; RunLeft on Ctrl-C, on Ctrl-D, and when the terminal's signal aborts. clack tells none
 * of these apart, and never ends on Ctrl-D.
 */
export async function prompt<T>(
  { input, output, signal }: Terminal,
  show: (options: Required<Pick<CommonOptions, 'input' | 'output' | 'signal'>>) => Promise<T>,
): Promise<Exclude<T, symbol>> {
  const left = new AbortController();
  let escaped = false;
  const onKey = (_: string | undefined, key: Key | undefined): void => {
    escaped = key?.name === 'escape';
    if (key?.ctrl === true && key.name === 'd') left.abort();
  };
  const onEnd = (): void => left.abort();
  input.on('keypress', onKey).once('end', onEnd);
  try {
    const signals = signal === undefined ? [left.signal] : [left.signal, signal];
    const answer = await show({ input, output, signal: AbortSignal.any(signals) });
    if (!isCancel(answer)) return answer as Exclude<T, symbol>;
    throw escaped && !left.signal.aborted && signal?.aborted !== true ? new QuestionLeft() : new RunLeft();
  } finally {
    input.off('keypress', onKey).off('end', onEnd);
  }
}
