import { elicit, saga, sample, type ElicitOutcome } from '@mcp-saga/server';
import { z } from 'zod';
import { textOf } from './round-trips.ts';

const Person = z.object({
  username: z.string().describe("User's response"),
  email: z.string().describe("User's email address"),
});

const Defaults = z.object({
  name: z.string().default('John Doe'),
  age: z.int().default(30),
  score: z.number().default(95.5),
  status: z.enum(['active', 'inactive', 'pending']).default('active'),
  verified: z.boolean().default(true),
});

const Enums = z.object({
  untitledSingle: z.enum(['option1', 'option2', 'option3']),
  titledSingle: titled({ value1: 'First Option', value2: 'Second Option', value3: 'Third Option' }),
  legacyEnum: z
    .enum(['opt1', 'opt2', 'opt3'])
    .meta({ enumNames: ['Option One', 'Option Two', 'Option Three'] }),
  untitledMulti: z.array(z.enum(['option1', 'option2', 'option3'])),
  titledMulti: z.array(
    titled({ value1: 'First Choice', value2: 'Second Choice', value3: 'Third Choice' }),
  ),
});

/** One of several texts, each with a title. */
function titled(options: { readonly [value: string]: string }) {
  return z.union(Object.entries(options).map(([value, title]) => z.literal(value).meta({ title })));
}

function told(outcome: ElicitOutcome<object>): string {
  return `action=${outcome.action}, content=${JSON.stringify(outcome.action === 'accept' ? outcome.content : {})}`;
}

const sampling = saga(
  {
    name: 'test_sampling',
    version: '1',
    description: 'Asks the model',
    input: z.object({ prompt: z.string() }),
  },
  function* ({ prompt }) {
    const answer = yield* sample('response', {
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens: 100,
    });
    return `LLM response: ${textOf(answer)}`;
  },
);

const elicitation = saga(
  {
    name: 'test_elicitation',
    version: '1',
    description: 'Asks the user',
    input: z.object({ message: z.string() }),
  },
  function* ({ message }) {
    return `User response: ${told(yield* elicit.outcome('response', { message, schema: Person }))}`;
  },
);

const defaults = saga(
  {
    name: 'test_elicitation_sep1034_defaults',
    version: '1',
    description: 'Asks with a form that has defaults',
  },
  function* () {
    const outcome = yield* elicit.outcome('form', {
      message: 'Please check these',
      schema: Defaults,
    });
    return `Elicitation completed: ${told(outcome)}`;
  },
);

const enums = saga(
  {
    name: 'test_elicitation_sep1330_enums',
    version: '1',
    description: 'Asks with a form that has choices',
  },
  function* () {
    const outcome = yield* elicit.outcome('form', { message: 'Please choose', schema: Enums });
    return `Elicitation completed: ${told(outcome)}`;
  },
);

/** The tools of the scenarios of 2025 in which the server asks the client. */
export const sagas2025 = [sampling, elicitation, defaults, enums] as const;
