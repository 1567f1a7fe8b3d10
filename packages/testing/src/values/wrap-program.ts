import type { Program } from '@mcp-saga/server';

/** Methods of a program that a wrapper may replace. */
export type ProgramMethods = Partial<Pick<Program, 'begin' | 'advance'>>;

/**
 * A program with other methods, and its older versions likewise. Everything else is its own, so that a program of a class can be
 * wrapped, too.
 */
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
