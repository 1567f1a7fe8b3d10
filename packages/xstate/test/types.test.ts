import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const here = join(repository, 'packages/xstate/test');

const machine = (code: string): string => `machineSaga({ name: 'a', version: '1' }, ${code});`;

/** What must not compile, and what the error has to say. */
const refused: Readonly<Record<string, { readonly code: string; readonly says: RegExp }>> = {
  'no-input': {
    code: machine(
      'setup({ types: { input: {} as { topic: string }, output: {} as string } }).createMachine({})',
    ),
    says: /the machine takes another input than the saga gives it/,
  },
  'no-output': {
    code: machine('setup({}).createMachine({})'),
    says: /the machine must declare types\.output, as the saga returns it/,
  },
  'response-result': {
    code: "step(() => fetch('x'));",
    says: /A step must return plain data, Date, Map, Set, URL, Uint8Array or Error, not", Response\]/,
  },
  'async-generator-undo': {
    code: 'step(() => 5, { compensate: async function* () {} });',
    says: /An undo is a function, an async function or function\*\. It must not be an async generator/,
  },
};

function compile(compiler: string, project: string): Promise<readonly string[]> {
  const tsc = join(repository, 'node_modules', compiler, 'bin/tsc');
  return new Promise((resolve) => {
    // It ends with an error status, since some of it must not compile.
    execFile(process.execPath, [tsc, '-p', project, '--pretty', 'false'], (_, stdout) =>
      resolve(stdout.split('\n').filter((line) => line !== '')),
    );
  });
}

describe.each(['typescript', 'typescript-5'])(
  'the types of machine sagas, compiled by %s',
  (compiler) => {
    // Where XState is found.
    const folder = mkdtempSync(join(repository, 'packages/xstate/node_modules/types-'));
    let lines: readonly string[];

    beforeAll(async () => {
      for (const [name, { code }] of Object.entries(refused)) {
        writeFileSync(
          join(folder, `${name}.ts`),
          "import { step, machineSaga } from '../../src/index.ts';\nimport { setup } from 'xstate';\n" +
            `void [step, machineSaga, setup];\n${code}\n`,
        );
      }
      const project = join(folder, 'tsconfig.json');
      const include = [`${folder}/*.ts`, `${here}/types/*.ts`];
      const settings = { extends: join(repository, 'test/tsconfig.json'), include, exclude: [] };
      writeFileSync(project, JSON.stringify(settings));
      lines = await compile(compiler, project);
    }, 120_000);
    afterAll(() => rmSync(folder, { recursive: true }));

    it('gives each step its exact type, and rejects invalid machines', () => {
      expect(lines.filter((line) => /(?:positive|negative)\.ts\(/.test(line))).toEqual([]);
      expect(lines.filter((line) => !line.startsWith(' '))).toHaveLength(
        Object.keys(refused).length,
      );
    });

    it.each(Object.entries(refused))('rejects with a readable message: %s', (name, { says }) => {
      const start = lines.findIndex((line) => line.includes(`${name}.ts(`));
      expect(start).toBeGreaterThanOrEqual(0);
      expect(lines.slice(start, start + 4).join('\n')).toMatch(says);
    });
  },
);
