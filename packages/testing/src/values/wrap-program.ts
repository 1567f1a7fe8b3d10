import type { Program } from '@mcp-saga/server';

/** Methods of a program that a wrapper may replace. */
export type ProgramMethods = Partial<Pick<Program, 'begin' | 'advance'>>;

/** Wraps a program and its older versions with other methods. A proxy, so that programs of a class keep their members. */
export function wrapProgram(program: Program, methodsOf: (program: Program) => ProgramMethods): Program {
  const changed: Partial<Program> = {
    ...methodsOf(program),
    previous: program.previous.map((older) => ({ ...older, saga: wrapProgram(older.saga, methodsOf) })),
  };
  return new Proxy(program, {
    get: (target, name) => {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
