import { promptSaga, resourceSaga, step } from '@mcp-saga/server';
import { completable as completableV1 } from '@modelcontextprotocol/sdk/server/completable.js';
import { completable } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';

const languages = ['ada', 'algol', 'basic'];
const startingWith = (value: string): string[] =>
  languages.filter((name) => name.startsWith(value));

const Review = z.object({
  language: completable(z.string(), startingWith),
  tone: completable(z.string(), (value, context) => [
    `${value} for ${context?.arguments?.['language']}`,
  ]).optional(),
  line: z.string().optional(),
});

const review = promptSaga(
  { name: 'review', version: '1', input: Review },
  function* ({ language }) {
    return yield* step('write', () => `Review ${language}`);
  },
);

const order = resourceSaga(
  {
    name: 'order',
    version: '1',
    uriTemplate: 'orders://{region}/{id}',
    complete: {
      region: (value) => ['eu', 'us'].filter((region) => region.startsWith(value)),
    },
  },
  function* ({ id }) {
    return yield* step('read', () => id);
  },
);

const prompt = { type: 'ref/prompt', name: 'review' } as const;
const template = { type: 'ref/resource', uri: 'orders://{region}/{id}' } as const;

describe.each(connections)('$name', ({ connect }) => {
  test('[W1] completes an argument of a prompt, optional or not', async () => {
    const { client, close } = await connect(hostOf([review]).host);
    const complete = async (name: string, value: string) =>
      (
        await client.complete({
          ref: prompt,
          argument: { name, value },
          context: { arguments: { language: 'ada' } },
        })
      ).completion;
    expect(client.getServerCapabilities()).toMatchObject({ completions: {} });
    expect(await complete('language', 'a')).toEqual({
      values: ['ada', 'algol'],
      total: 2,
      hasMore: false,
    });
    expect(await complete('tone', 'kind')).toMatchObject({ values: ['kind for ada'] });
    expect(await complete('line', '1')).toMatchObject({ values: [] });
    await close();
  });

  test('[W1] completes a variable of a resource template', async () => {
    const { client, close } = await connect(hostOf([order]).host);
    const complete = async (name: string) =>
      (await client.complete({ ref: template, argument: { name, value: 'e' } })).completion.values;
    expect(await complete('region')).toEqual(['eu']);
    expect(await complete('id')).toEqual([]);
    await close();
  });

  test('[T6] completes nothing for a caller who may not use the saga', async () => {
    const { client, close } = await connect(
      hostOf([review, order], { anonymous: { calls: 'accept' }, auth: { authorize: () => false } })
        .host,
    );
    for (const [ref, name] of [
      [prompt, 'language'],
      [template, 'region'],
    ] as const)
      await expect(client.complete({ ref, argument: { name, value: '' } })).rejects.toMatchObject({
        code: -32_602,
      });
    await close();
  });

  test('answers and lists a prompt with completions like any other', async () => {
    const { client, close } = await connect(hostOf([review]).host);
    expect((await client.listPrompts()).prompts[0]?.arguments).toEqual([
      { name: 'language', required: true },
      { name: 'tone', required: false },
      { name: 'line', required: false },
    ]);
    const { messages } = await client.getPrompt({ name: 'review', arguments: { language: 'ada' } });
    expect(messages).toMatchObject([{ content: { text: 'Review ada' } }]);
    await close();
  });

  test('announces no completions if no saga has any', async () => {
    const { client, close } = await connect(hostOf([asking()]).host);
    expect(client.getServerCapabilities()?.completions).toBeUndefined();
    await close();
  });

  test.each([undefined, -32_602])(
    'hides an error of a completion from the client: code %s',
    async (code) => {
      const thrown = Object.assign(new Error('kq-918273'), { code });
      const failing = promptSaga(
        {
          name: 'failing',
          version: '1',
          input: z.object({
            language: completableV1(z.string(), () => {
              throw thrown;
            }),
          }),
        },
        function* () {
          return yield* step('write', () => '');
        },
      );
      const { host, told } = hostOf([failing]);
      const { client, close } = await connect(host);
      const ref = { type: 'ref/prompt', name: 'failing' } as const;
      const refused = await client
        .complete({ ref, argument: { name: 'language', value: '' } })
        .catch(String);
      expect(refused).toMatch(/Internal error$/);
      expect(told.errors).toEqual([thrown]);
      await close();
    },
  );
});

test('rejects completions for unknown variables, and completions that are not functions', () => {
  const body = function* () {
    return yield* step('read', () => '');
  };
  const uriTemplate = 'orders://{id}';
  const named = { name: 'order', version: '1', uriTemplate } as const;
  // @ts-expect-error -- not a variable
  expect(() => resourceSaga({ ...named, complete: { other: () => [] } }, body)).toThrow(
    expect.objectContaining({ code: 'authoring_error' }),
  );
  // @ts-expect-error -- not a function
  expect(() => resourceSaga({ ...named, complete: { id: ['a'] } }, body)).toThrow(
    expect.objectContaining({ code: 'authoring_error' }),
  );
});
