import { SagaTestError, type TestSaga } from '@mcp-saga/testing';
import type { Program } from '@mcp-saga/server';
import * as own from '@mcp-saga/xstate';
import { readChart } from '@mcp-saga/xstate/internal';
import type { AnyStateMachine } from 'xstate';
import { drawChart } from '../chart/draw-chart.ts';
import { layOutChart } from '../chart/lay-out-chart.ts';
import { toSvgText } from '../chart/svg-element.ts';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { exportsOf, importFrom, loadModule } from '../input/load-module.ts';
import { isSaga, isScript, scriptOf } from '../input/module-exports.ts';

type Drawn = AnyStateMachine | Program | TestSaga;

/** `mcp-saga graph`. */
export const graph: Command = defineCommand({
  name: 'graph',
  summary: 'draws a machine, or one run of a saga, as Mermaid or SVG',
  parameters: ['file'],
  options: {
    export: { short: 'e', value: 'NAME', help: 'export to draw (default: the only one)' },
    svg: { help: 'draws a machine as SVG' },
    input: { value: 'JSON', help: 'arguments of an exported saga; a script (testSaga) has its own' },
  },
  example: 'mcp-saga graph order.machine.ts --svg > order.svg',
  run: async ({ export: wanted, svg, input }, [file = '']) => {
    const found = exportsOf(file, await loadModule(file), 'machine, saga, or script', isDrawn, wanted);
    const [drawn, other] = found.values();
    if (drawn === undefined || other !== undefined)
      throw new CliError('no_export', `Pass --export. There are: ${[...found.keys()].join(', ')}.`);
    if (svg === true) {
      if (!isMachine(drawn))
        throw new CliError('usage', '--svg draws machines. Omit --svg to draw a run of a saga.');
      const drawing = toSvgText(drawChart(layOutChart(readChart(drawn))));
      return { text: drawing, json: { svg: drawing } };
    }
    const mermaid = await mermaidOf(file, drawn, input);
    return { text: mermaid.trimEnd(), json: { mermaid } };
  },
});

function isDrawn(value: unknown): value is Drawn {
  return isMachine(value) || isSaga(value) || isScript(value);
}

/** Known by the structure, as the project may have another copy of XState. */
function isMachine(value: unknown): value is AnyStateMachine {
  const { root, config, transition } = Object(value) as Partial<AnyStateMachine>;
  return typeof root === 'object' && typeof config === 'object' && typeof transition === 'function';
}

async function mermaidOf(file: string, drawn: Drawn, input: string | undefined): Promise<string> {
  if (isMachine(drawn)) {
    // The package of the project, or our own if the project has none.
    const drawer = importFrom<typeof own>(file, '@mcp-saga/xstate').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
      return own;
    });
    return (await drawer).toMermaid(drawn);
  }
  // The body of a generator is opaque, but a run can be drawn.
  const script = isScript(drawn) ? drawn : scriptOf(drawn, input);
  try {
    return (await script.run()).toMermaid();
  } catch (error) {
    if (!(error instanceof SagaTestError) || isScript(drawn)) throw error;
    throw new CliError('usage', adviceFor(error), { cause: error });
  }
}

function adviceFor({ code, message }: SagaTestError): string {
  if (code === 'unanswered') return `${message}\nExport a script with the answer, and draw it with --export.`;
  return code === 'script' ? `${message}\nHere: pass --input '{ … }', or export such a script.` : message;
}
