import {
  all,
  allSettled,
  elicit,
  listRoots,
  saga,
  sample,
  type SampleResult,
} from '@mcp-saga/server';
import { z } from 'zod';

const Name = z.object({ name: z.string() });
const Color = z.object({ color: z.string() });
const Ok = z.object({ ok: z.boolean() });

const capitalQuestion = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
} as const;

const greetingRequest = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
  maxTokens: 50,
} as const;

/** The text of what a model answered. */
export function textOf({ content }: SampleResult): string {
  return content.type === 'text' ? content.text : `(${content.type})`;
}

const basicElicitation = saga(
  { name: 'test_input_required_result_elicitation', version: '1', description: 'Asks for a name' },
  function* () {
    const { name } = yield* elicit('user_name', { message: 'What is your name?', schema: Name });
    return `Hello, ${name}!`;
  },
);

const basicSampling = saga(
  {
    name: 'test_input_required_result_sampling',
    version: '1',
    description: 'Asks the model for a capital',
  },
  function* () {
    return textOf(yield* sample('capital_question', capitalQuestion));
  },
);

const basicRoots = saga(
  {
    name: 'test_input_required_result_list_roots',
    version: '1',
    description: 'Asks for the roots',
  },
  function* () {
    const roots = yield* listRoots('client_roots');
    return `The roots are ${roots.map(({ uri }) => uri).join(', ')}`;
  },
);

const requestState = saga(
  {
    name: 'test_input_required_result_request_state',
    version: '1',
    description: 'Asks for a confirmation',
  },
  function* () {
    const { ok } = yield* elicit('confirm', { message: 'Please confirm', schema: Ok });
    return `state-ok, confirmed: ${ok}`;
  },
);

const multipleInputs = saga(
  {
    name: 'test_input_required_result_multiple_inputs',
    version: '1',
    description: 'Asks for three things at once',
  },
  function* () {
    const { name, greeting, roots } = yield* all({
      name: elicit('user_name', { message: 'What is your name?', schema: Name }),
      greeting: sample('greeting', greetingRequest),
      roots: listRoots('client_roots'),
    });
    return `${textOf(greeting)} ${name.name}, with ${roots.length} roots`;
  },
);

const multiRound = saga(
  {
    name: 'test_input_required_result_multi_round',
    version: '1',
    description: 'Asks in two rounds',
  },
  function* () {
    const { name } = yield* elicit('step1', {
      message: 'Step 1: What is your name?',
      schema: Name,
    });
    const { color } = yield* elicit('step2', {
      message: 'Step 2: What is your favorite color?',
      schema: Color,
    });
    return `${name} likes ${color}`;
  },
);

const tamperedState = saga(
  {
    name: 'test_input_required_result_tampered_state',
    version: '1',
    description: 'Asks for a confirmation',
  },
  function* () {
    const { ok } = yield* elicit('confirm', { message: 'Please confirm', schema: Ok });
    return `confirmed: ${ok}`;
  },
);

/** Asks for everything, and makes do with what the client can answer. */
const capabilities = saga(
  {
    name: 'test_input_required_result_capabilities',
    version: '1',
    description: 'Asks for what the client can answer',
  },
  function* () {
    const { name, capital } = yield* allSettled({
      name: elicit('user_name', { message: 'What is your name?', schema: Name }),
      capital: sample('capital_question', capitalQuestion),
    });
    return [
      name.status === 'fulfilled' ? name.value.name : 'no name',
      capital.status === 'fulfilled' ? textOf(capital.value) : 'no capital',
    ].join(', ');
  },
);

/** The tools of the scenarios `input-required-result-*`. */
export const roundTripSagas = [
  basicElicitation,
  basicSampling,
  basicRoots,
  requestState,
  multipleInputs,
  multiRound,
  tamperedState,
  capabilities,
] as const;
