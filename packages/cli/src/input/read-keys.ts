import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { SealError } from '@mcp-saga/seal';
import type { CommandIo, ValuesOf } from '../model/command.ts';
import { CliError } from '../model/errors.ts';

/** Options of commands that need keys. */
export const keyOptions = {
  'env-file': { value: 'FILE', help: 'reads variables from a file, such as .env' },
  'keys-env': { value: 'NAME', help: 'variable with the keys (default: SAGA_KEYS)' },
} as const;

type KeyValues = ValuesOf<typeof keyOptions>;

/** Returns the text of the keys; undefined if the variable is not set. Throws `no_file`. */
export function findKeys(
  { 'env-file': file, 'keys-env': name = 'SAGA_KEYS' }: KeyValues,
  { environment }: CommandIo,
): string | undefined {
  if (file === undefined) return environment[name];
  if (!existsSync(file)) throw new CliError('no_file', `There is no file ${file}.`);
  const variables = parseEnv(readFileSync(file, 'utf8'));
  // Modules read their settings when they are imported.
  for (const [each, value] of Object.entries(variables)) process.env[each] ??= value;
  return environment[name] ?? variables[name];
}

/** Returns the text of the keys. Throws `no_keys`. */
export function readKeys(values: KeyValues, io: CommandIo): string {
  const keys = findKeys(values, io);
  if (keys !== undefined && keys !== '') return keys;
  const name = values['keys-env'] ?? 'SAGA_KEYS';
  throw new CliError('no_keys', `${name} is not set. Set ${name}, or pass --env-file or --keys-env.`);
}

/** Returns the result. Throws `no_keys` with the problem of a key, which never quotes the key, or `usage` for a wrong ID. */
export function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof SealError) {
      const problem = cause.message.replace(/node -p "[^"]*"/, 'mcp-saga keys new');
      throw new CliError('no_keys', `The keys cannot be used: ${problem}`, { cause });
    }
    throw cause instanceof TypeError ? new CliError('usage', cause.message, { cause }) : cause;
  }
}
