/**
 * The file of `call --keep`: the open saga with its token, and the arguments of its first call. A
 * saga is never dropped silently: its token is the only way to continue it.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { select } from '@clack/prompts';
import type { SuspendedSaga } from '@mcp-saga/client';
import type { Tool } from '@modelcontextprotocol/client';
import { toValue } from '../input/assignments.ts';
import type { CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { prompt } from '../terminal/prompter.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Stores a saga, and never half of it. */
export function storeSaga(file: string, saga: SuspendedSaga, args: Arguments): void {
  writeFileSync(`${file}~`, JSON.stringify({ ...saga.toJSON(), arguments: args }), { mode: 0o600 });
  renameSync(`${file}~`, file);
}

/** Deletes the saga of a file, which has ended. */
export function dropSaga(file: string): void {
  rmSync(file, { force: true });
}

/**
 * Reads the saga that a call continues; undefined if the call starts a new one. If the call has
 * other arguments than the saga, the person at the terminal decides. Without a terminal, the call
 * starts anew, and the saga is kept in another file.
 *
 * @throws CliError `no_file` if the file cannot be written, and `stopped` if the person leaves
 */
export async function sagaToContinue(
  file: string,
  { tool, arguments: args }: { readonly tool: Tool; readonly arguments: Arguments },
  io: CommandIo,
): Promise<unknown> {
  const text = readText(file);
  if (text === '') return undefined;
  const saga = toValue(text);
  const { name, arguments: own } = Object(saga) as Record<string, unknown>;
  // A call without arguments takes those of the saga. A saga of another tool is refused.
  const isOther =
    name === tool.name &&
    own !== undefined &&
    Object.keys(args).length > 0 &&
    !isDeepStrictEqual(args, own);
  if (isOther && !(await isContinued(file, { args, own, io }))) {
    const other = freeName(file);
    renameSync(file, other);
    io.note(`The saga in ${file} has other arguments: it is kept in ${other}.`);
    return undefined;
  }
  io.note(`continues the saga in ${file}`);
  return saga;
}

async function isContinued(
  file: string,
  { args, own, io }: { readonly args: Arguments; readonly own: unknown; readonly io: CommandIo },
): Promise<boolean> {
  if (!io.isInteractive) return false;
  const options = [
    { value: true, label: `Continue it with ${JSON.stringify(own)}` },
    { value: false, label: `Start a new saga with ${JSON.stringify(args)}` },
  ];
  const message = `The saga in ${file} has other arguments`;
  return await prompt(io, (common) => select({ ...common, message, options })).catch(
    (error: unknown) => {
      if (error instanceof CliError && error.code === 'question_left')
        throw new CliError('stopped', 'Stopped.');
      throw error;
    },
  );
}

function freeName(file: string): string {
  for (let number = 1; ; number += 1)
    if (!existsSync(`${file}.${number}`)) return `${file}.${number}`;
}

/** Reads the text of a file, which is empty without a saga. */
function readText(file: string): string {
  try {
    const text = readFileSync(file, { encoding: 'utf8', flag: 'a+' });
    if (text === '') rmSync(file);
    return text;
  } catch (cause) {
    throw new CliError('no_file', `--keep ${file}: the command cannot write the file.`, { cause });
  }
}
