import type { Command } from '../model/command.ts';
import { call } from './call.ts';
import { dev } from './dev.ts';
import { doctor } from './doctor.ts';
import { crashes, test } from './test-and-crash.ts';
import { graph } from './graph.ts';
import { inspect } from './inspect.ts';
import { checkKeys, newKey, rotateKeys } from './keys.ts';
import { newProject } from './new.ts';
import { replay } from './replay.ts';

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  newProject,
  dev,
  call,
  inspect,
  doctor,
  newKey,
  rotateKeys,
  checkKeys,
  test,
  crashes,
  replay,
  graph,
];

/** Finds the command that the first words of the command line name. */
export function commandIn(args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '));
}

/** Returns `true` if a command loads code of the user: always, or by one of its arguments. */
export function loadsUserCode(
  { runsUserCode = false, options }: Command,
  args: readonly string[],
): boolean {
  const names = Object.keys(options).filter((name) => options[name]?.runsUserCode);
  const isGiven = (name: string): boolean =>
    args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  return runsUserCode || names.some(isGiven);
}
