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
