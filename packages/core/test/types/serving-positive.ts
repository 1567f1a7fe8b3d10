/** The types of prompts and resources. Compiled by types.test.ts with both compilers. */
import { z } from 'zod';
import {
  continueAs,
  promptSaga,
  resourceSaga,
  step,
  type NoInput,
  type PromptSaga,
  type ResourceSaga,
} from '../../src/index.ts';
import type { Program } from '../../src/model/program.ts';
import { expectType, type Equal } from './equal.ts';

const Review = z.object({
  language: z.enum(['ada', 'c']),
  lines: z.string().transform(Number),
  tone: z.string().optional(),
});

export const review: PromptSaga<typeof Review> = promptSaga(
  { name: 'review', version: '1', input: Review, needs: ['elicitation'] },
  function* ({ language, lines, tone }) {
    expectType<Equal<typeof language, 'ada' | 'c'>>();
    expectType<Equal<typeof lines, number>>();
    expectType<Equal<typeof tone, string | undefined>>();
    const more = yield* step('more', () => lines > 1);
    if (more) yield* continueAs(review, { language: 'c', lines: '2' });
    return { messages: [{ role: 'assistant', content: { type: 'text', text: language } }] };
  },
);

export const plain = promptSaga({ name: 'plain', version: '1' }, function* (nothing) {
  expectType<Equal<typeof nothing, NoInput>>();
  return yield* step('text', () => 'x');
});
expectType<Equal<typeof plain, PromptSaga<undefined>>>();

export const order = resourceSaga(
  { name: 'order', version: '1', uriTemplate: 'orders://{region}/{id}', mimeType: 'text/plain' },
  function* ({ uri, region, id }) {
    expectType<Equal<[typeof uri, typeof region, typeof id], [string, string, string]>>();
    const blob = yield* step('read', () => 'eA==');
    if (region === 'eu') return { contents: [{ uri, blob }] };
    return id;
  },
);
expectType<Equal<typeof order, ResourceSaga<'orders://{region}/{id}'>>>();

export const programs: readonly Program[] = [review, plain, order];
