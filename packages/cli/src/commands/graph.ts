import { SagaTestError, type SagaRun, type TestSaga } from '@mcp-saga/testing';
import type { Program } from '@mcp-saga/server';
import * as own from '@mcp-saga/xstate';
import { isMachine, readChart } from '@mcp-saga/xstate/internal';
import type { AnyStateMachine } from 'xstate';
import { drawChart } from '../chart/draw-chart.ts';
import { layOutChart } from '../chart/lay-out-chart.ts';
import { toSvgText } from '../chart/svg-element.ts';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { exportsOf, importFrom, loadModule } from '../input/load-module.ts';
import { isSaga, isScript, scriptOf } from '../input/module-exports.ts';

type Drawing = Pick<SagaRun, 'toMermaid' | 'toSvg'>;
const isDrawn = (value: unknown) => isMachine(value) || isSaga(value) || isScript(value);

export const graph: Command = defineCommand({
  parameters: ['file'],
  options: {
    export: { short: 'e', value: 'NAME', help: 'export to draw (default: the only one)' },
    svg: { help: 'draws SVG (default: Mermaid)' },
    input: {
      value: 'JSON',
      help: 'arguments of an exported saga; a script (testSaga) has its own',
    },
  },
  example: 'mcp-saga graph order.machine.ts --svg > order.svg',
  runsUserCode: true,
  run: async ({ export: wanted, svg, input }, [file = '']) => {
    const found = exportsOf(
      file,
      await loadModule(file),
      'machine, saga, or script',
      isDrawn,
      wanted,
    );
    const [drawn, other] = found.values();
    if (drawn === undefined || other !== undefined)
      throw new CliError('no_export', `Pass --export. There are: ${[...found.keys()].join(', ')}.`);
    if (input !== undefined && !isSaga(drawn))
      throw new CliError(
        'usage',
        'A machine or script (testSaga) takes no input: leave out --input.',
      );
    // The body of a generator is opaque, but a run can be drawn.
    const drawing = await (isMachine(drawn) ? chartOf(file, drawn) : runOf(drawn, input));
    const text = svg === true ? drawing.toSvg() : drawing.toMermaid();
    return {
      text: text.trimEnd(),
      isAsIs: true,
      json: svg === true ? { svg: text } : { mermaid: text },
    };
  },
});

/** Draws Mermaid by the package of the project, or by our own if the project has none. */
async function chartOf(file: string, machine: AnyStateMachine): Promise<Drawing> {
  const drawer = importFrom<typeof own>(file, '@mcp-saga/xstate').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
      return own;
    },
  );
  const { toMermaid } = await drawer;
  const toSvg = (): string => toSvgText(drawChart(layOutChart(readChart(machine))));
  return { toMermaid: () => toMermaid(machine), toSvg };
}

async function runOf(saga: Program | TestSaga, input: string | undefined): Promise<Drawing> {
  const script = isScript(saga) ? saga : scriptOf(saga, input);
  return await script.run().catch((error: unknown) => {
    if (!(error instanceof SagaTestError) || isScript(saga)) throw error;
    throw new CliError('usage', adviceFor(error), { cause: error });
  });
}

function adviceFor({ code, message }: SagaTestError): string {
  if (code === 'unanswered')
    return `${message}\nExport a script with the answer, and draw it with --export.`;
  return code === 'script'
    ? `${message}\nHere: pass --input '{ … }', or export such a script.`
    : message;
}
