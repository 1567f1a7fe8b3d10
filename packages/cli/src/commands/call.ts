import { existsSync } from 'node:fs';
import type { CallToolResult } from '@mcp-saga/client';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { answering } from '../calling/answer.ts';
import { callTool, declaredFor, toolNamed, wayFor, ways } from '../calling/call-tool.ts';
import { serverOptions, withServer } from '../calling/connect.ts';
import { readAssignments, readObject } from '../input/assignments.ts';

export const call: Command = defineCommand({
  parameters: ['tool'],
  options: {
    ...serverOptions,
    arg: {
      short: 'a',
      multiple: true,
      value: 'NAME=VALUE',
      help: 'argument, as JSON or text; repeatable',
    },
    args: { value: 'JSON', help: 'all arguments as an object' },
    answer: {
      multiple: true,
      value: 'ID=VALUE',
      help: 'answer by ID of a question, or by name of a field',
    },
    decline: { multiple: true, value: 'ID', help: 'declines the question' },
    'model-answer': { value: 'TEXT', help: 'answers every question to the model' },
    yes: { short: 'y', help: 'accepts every question, with the defaults of its fields' },
    keep: { value: 'FILE', help: 'stores the open saga; the same command continues it' },
    as: {
      value: 'WAY',
      help: `${ways.join(', ')} (default: the saga methods, if the server has them)`,
    },
  },
  example:
    'mcp-saga call refund --url http://127.0.0.1:3000/mcp --arg amount=900 --answer confirm=true',
  // A started task is cancelled within five seconds.
  closesWithinMs: 6_000,
  run: async (values, [name = ''], io) => {
    const as = ways.find((way) => way === values.as);
    if (as !== values.as)
      throw new CliError('usage', `--as ${values.as}: expected ${ways.join(', ')}.`);
    const answers = {
      answers: readAssignments('answer', values.answer),
      declined: new Set(values.decline),
      model: values['model-answer'],
      yes: values.yes === true,
    };
    const { answer, unused } = answering(answers, io);
    const args = values.args === undefined ? {} : readObject('args', values.args);
    const texts = readAssignments('arg', values.arg);
    return await withServer(values, declaredFor(as), io, async (client) => {
      const isContinued = existsSync(values.keep ?? '');
      const way = as ?? wayFor(client);
      const tool = await toolNamed(client, name, io);
      const given = { tool, way, arguments: args, texts, answer, keep: values.keep };
      try {
        const result = await callTool(client, given, io);
        return { text: textOf(result), isAsIs: true, json: result, ok: result.isError !== true };
      } catch (error) {
        // A wait between requests ends with this code, too.
        if (io.signal.aborted && Object(error).code !== 'ABORT_ERR')
          io.note('The request was interrupted. The outcome of its steps is unknown.');
        // Another user, or the server of another address, may still continue the saga.
        if (
          values.keep !== undefined &&
          /^(?:saga_gone|kept_saga_invalid)$/.test(Object(error).code)
        )
          io.note(
            `${values.keep} stays. To start a new saga, delete the file or pass another one.`,
          );
        throw error;
      } finally {
        // Earlier calls may have used the other options.
        const advice = isContinued ? undefined : unused();
        if (advice !== undefined) io.note(advice);
      }
    });
  },
});

function textOf({ content, structuredContent }: CallToolResult): string {
  const texts = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`));
  if (texts.length > 0) return texts.join('\n');
  return structuredContent === undefined ? '' : JSON.stringify(structuredContent, undefined, 2);
}
