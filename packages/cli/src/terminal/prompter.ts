import type { Readable, Writable } from 'node:stream';
import { type CommonOptions, isCancel } from '@clack/prompts';
import { CliError } from '../model/errors.ts';

/** Input and output of the person. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Removes the question. */
  readonly signal?: AbortSignal;
}

/** The person pressed Ctrl-C or Ctrl-D to stop the run. */
export class RunLeft extends CliError {
  constructor() {
    super('stopped', 'Stopped.');
  }
}

/**
 * Shows a prompt of clack, and returns the answer.
 * @throws CliError `question_left` on Esc; RunLeft on Ctrl-C, on Ctrl-D, and when the terminal's
 * signal aborts. clack does not distinguish them, and ignores Ctrl-D.
 */
export async function prompt<T>(
  { input, output, signal }: Terminal,
  show: (options: Required<Pick<CommonOptions, 'input' | 'output' | 'signal'>>) => Promise<T>,
): Promise<Exclude<T, symbol>> {
  const left = new AbortController();
  let escaped = false;
  const onKey = (
    _: string | undefined,
    key?: { readonly name?: string; readonly ctrl?: boolean },
  ): void => {
    escaped = key?.name === 'escape';
    if (key?.ctrl === true && key.name === 'd') left.abort();
  };
  const onEnd = (): void => left.abort();
  input.on('keypress', onKey).once('end', onEnd);
  try {
    const signals = signal === undefined ? [left.signal] : [left.signal, signal];
    const answer = await show({ input, output, signal: AbortSignal.any(signals) });
    if (!isCancel(answer)) return answer as Exclude<T, symbol>;
    const isLeft = escaped && !left.signal.aborted && signal?.aborted !== true;
    throw isLeft ? new CliError('question_left', 'The question was left') : new RunLeft();
  } finally {
    input.off('keypress', onKey).off('end', onEnd);
  }
}

/** Asks, and returns the answer with the name of the last key, which says how it was given. */
export async function withLastKey<T>(
  { input }: Terminal,
  ask: () => Promise<T>,
): Promise<{ readonly answer: T; readonly lastKey: string | undefined }> {
  let lastKey: string | undefined;
  const onKey = (_: string | undefined, key?: { readonly name?: string }): void => {
    lastKey = key?.name;
  };
  input.on('keypress', onKey);
  try {
    const answer = await ask();
    return { answer, lastKey };
  } finally {
    input.off('keypress', onKey);
  }
}
