import { elicit, log, saga, sample } from '@mcp-saga/server';
import type { McpServer, ServerEventBus } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { textOf } from './round-trips.ts';

const missingCapability = saga(
  {
    name: 'test_missing_capability',
    version: '1',
    description: 'Needs sampling',
    needs: ['sampling'],
  },
  function* () {
    const answer = yield* sample('question', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Are you there?' } }],
      maxTokens: 10,
    });
    return textOf(answer);
  },
);

const streamingElicitation = saga(
  { name: 'test_streaming_elicitation', version: '1', description: 'Asks for a confirmation' },
  function* () {
    const { ok } = yield* elicit('confirm', {
      message: 'Please confirm',
      schema: z.object({ ok: z.boolean() }),
    });
    return `confirmed: ${ok}`;
  },
);

const logging = saga(
  { name: 'test_logging_tool', version: '1', description: 'Logs a message' },
  function* () {
    yield* log('info', 'Only for those who set a log level');
    return 'logged';
  },
);

/** The tools of the scenario `server-stateless` that are sagas. */
export const statelessSagas = [missingCapability, streamingElicitation, logging] as const;

/** Tools that announce a change of a list to every listener. */
export function registerTriggers(server: McpServer, bus: ServerEventBus): void {
  for (const [name, kind] of [
    ['test_trigger_tool_change', 'tools_list_changed'],
    ['test_trigger_prompt_change', 'prompts_list_changed'],
  ] as const) {
    server.registerTool(name, { description: `Publishes ${kind}` }, () => {
      bus.publish({ kind });
      return { content: [{ type: 'text', text: 'changed' }] };
    });
  }
}
