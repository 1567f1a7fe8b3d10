import type { Program } from '@mcp-saga/server';

/** Members of a program that a wrapper may replace. */
export type ProgramMembers = Partial<Pick<Program, 'begin' | 'advance' | 'previous'>>;

/** Wraps a program and older versions with other members. A proxy keeps the members of classes. */
export function wrapProgram(
  program: Program,
  membersOf: (program: Program) => ProgramMembers,
): Program {
  const changed: Partial<Program> = {
    previous: program.previous.map((older) => ({
      ...older,
      saga: wrapProgram(older.saga, membersOf),
    })),
    ...membersOf(program),
  };
  return new Proxy(program, {
    get: (target, name) => {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
