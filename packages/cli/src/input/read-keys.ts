import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { CommandIo, ValuesOf } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { urlOf } from './load-module.ts';

/** Options of commands that need keys. */
export const keyOptions = {
  'env-file': { value: 'FILE', help: 'reads variables from a file, such as .env' },
  'keys-env': { value: 'NAME', help: 'variable with the keys (default: SAGA_KEYS)' },
} as const;

type KeyValues = ValuesOf<typeof keyOptions>;

/** Returns the text of the keys; undefined if the variable is not set. Throws `no_file`. */
export function findKeys(
  { 'env-file': file, 'keys-env': name = 'SAGA_KEYS' }: KeyValues,
  { environment, note }: CommandIo,
): string | undefined {
  if (environment[name] === '') note(`${name} is empty, which counts as not set.`);
  // An empty variable is not set, also for modules.
  if (process.env[name] === '') delete process.env[name];
  const own = environment[name] === '' ? undefined : environment[name];
  if (file === undefined) return own;
  const variables = parseEnv(readFileSync(urlOf(file), 'utf8').replace(/^\uFEFF/, ''));
  if (variables[name] === '') delete variables[name];
  // Modules read their settings when they are imported.
  for (const [each, value] of Object.entries(variables)) process.env[each] ??= value;
  return own ?? variables[name];
}

/** Returns the text of the keys. Throws `no_keys`. */
export function readKeys(values: KeyValues, io: CommandIo): string {
  const keys = findKeys(values, io);
  if (keys !== undefined) return keys;
  const name = values['keys-env'] ?? 'SAGA_KEYS';
  throw new CliError(
    'no_keys',
    `${name} is not set. Set ${name}, or pass --env-file or --keys-env.`,
  );
}
