import { elicit, promptSaga, step, type PromptMessage } from '@mcp-saga/server';
import { completable } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { image } from './image.ts';

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

const simple = promptSaga(
  { name: 'test_simple_prompt', version: '1', description: 'A prompt without arguments' },
  function* () {
    return yield* step('write', () => 'This is a simple prompt for testing.');
  },
);

const values = ['paris', 'park', 'party'];

const withArguments = promptSaga(
  {
    name: 'test_prompt_with_arguments',
    version: '1',
    description: 'A prompt with two arguments, one of which can be completed',
    input: z.object({
      arg1: completable(z.string(), (typed) => values.filter((value) => value.startsWith(typed))),
      arg2: z.string(),
    }),
  },
  function* ({ arg1, arg2 }) {
    return yield* step('write', () => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`);
  },
);

function user(content: PromptMessage['content']): PromptMessage {
  return { role: 'user', content };
}

const withResource = promptSaga(
  {
    name: 'test_prompt_with_embedded_resource',
    version: '1',
    description: 'A prompt with a resource in it',
    input: z.object({ resourceUri: z.string() }),
  },
  function* ({ resourceUri: uri }) {
    return yield* step('write', () => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'An embedded resource.' },
        }),
        user({ type: 'text', text: 'Please process the resource above.' }),
      ],
    }));
  },
);

const withImage = promptSaga(
  { name: 'test_prompt_with_image', version: '1', description: 'A prompt with an image in it' },
  function* () {
    return yield* step('write', () => ({
      messages: [
        user({ type: 'image', data: image, mimeType: 'image/png' }),
        user({ type: 'text', text: 'Please look at the image above.' }),
      ],
    }));
  },
);

/**
 * The prompts of the scenarios `prompts-*`, `completion-complete` and
 * `input-required-result-non-tool-request`.
 */
export const promptSagas = [contextPrompt, simple, withArguments, withResource, withImage] as const;
