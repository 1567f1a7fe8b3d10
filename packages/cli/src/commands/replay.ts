import { replayRecordings } from '@mcp-saga/testing/node';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { exportsOf, loadModule } from '../input/load-module.ts';
import { isSaga } from '../input/module-exports.ts';
import { judged, verdictOf } from './verdicts.ts';

export const replay: Command = defineCommand({
  parameters: ['recordings'],
  options: { sagas: { short: 's', value: 'FILE', help: 'module that exports the sagas' } },
  example: "mcp-saga replay 'recordings/*.json' --sagas sagas/index.ts",
  runsUserCode: true,
  run: async ({ sagas: file }, [pattern = '']) => {
    if (file === undefined)
      throw new CliError('usage', 'Pass --sagas, the module with your sagas.');
    const sagas = [...exportsOf(file, await loadModule(file), 'saga', isSaga).values()];
    const results: { readonly file: string; readonly problem?: string }[] = [];
    const recordings = await judged(async () => replayRecordings(pattern, { sagas }));
    if ('problem' in recordings) throw new CliError('no_file', recordings.problem);
    for (const { file: recording, replay: run } of recordings)
      results.push({ file: recording, ...(await judged(run)) });
    const ok = results.every(({ problem }) => problem === undefined);
    const text = results.map(({ file: name, problem }) => verdictOf(name, problem)).join('\n');
    return { text, json: { ok, recordings: results }, ok };
  },
});
