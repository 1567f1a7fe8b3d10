import { elicit, promptSaga } from '@mcp-saga/server';
import { z } from 'zod';

const Context = z.object({ context: z.string() });

const contextPrompt = promptSaga(
  {
    name: 'test_input_required_result_prompt',
    version: '1',
    description: 'A prompt that asks for its context',
    input: z.object({}),
  },
  function* () {
    const { context } = yield* elicit('user_context', {
      message: 'What context should the prompt use?',
      schema: Context,
    });
    return `Consider this: ${context}`;
  },
);

/** The prompt of the scenario `input-required-result-non-tool-request`. */
export const promptSagas = [contextPrompt] as const;
