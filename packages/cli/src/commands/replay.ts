import { SagaTestError } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { exportsOf, loadModule } from '../input/load-module.ts';
import { isSaga } from '../input/module-exports.ts';

/** `mcp-saga replay`. */
export const replay: Command = defineCommand({
  name: 'replay',
  summary: 'replays recordings with the current code',
  parameters: ['recordings'],
  options: { sagas: { type: 'string', short: 's', value: 'FILE', help: 'module that exports the sagas' } },
  example: "mcp-saga replay 'recordings/*.json' --sagas sagas/index.ts",
  run: async ({ sagas: file }, [pattern = '']) => {
    if (file === undefined) throw new CliError('usage', 'Pass --sagas, the module with your sagas.');
    const sagas = [...exportsOf(file, await loadModule(file), 'saga', isSaga).values()];
    const results: { readonly file: string; readonly problem?: string }[] = [];
    for (const { file: recording, replay: run } of recordingsOf(pattern, sagas)) {
      try {
        await run();
        results.push({ file: recording });
      } catch (error) {
        if (!(error instanceof SagaTestError || error instanceof SyntaxError)) throw error;
        results.push({ file: recording, problem: error.message });
      }
    }
    const ok = results.every(({ problem }) => problem === undefined);
    const text = results.map(({ file: name, problem }) =>
      problem === undefined ? `ok    ${name}` : `FAIL  ${name}\n${problem.replaceAll(/^/gm, '      ')}`,
    );
    return { text: text.join('\n'), json: { ok, recordings: results }, ok };
  },
});

function recordingsOf(
  ...[pattern, sagas]: [string, Parameters<typeof replayRecordings>[1]['sagas']]
): ReturnType<typeof replayRecordings> {
  try {
    return replayRecordings(pattern, { sagas });
  } catch (error) {
    if (error instanceof SagaTestError) throw new CliError('no_file', error.message, { cause: error });
    throw error;
  }
}
