import { z } from 'zod';
import { elicit, saga, type Saga, type SagaOptions } from '../../src/index.ts';
import type { Command, Steps } from '../../src/model/command.ts';

/** A saga without input, of a body. */
export function sagaOf(
  body: () => Steps<string>,
  options: Partial<SagaOptions<undefined, undefined>> = {},
): Saga<undefined, undefined> {
  return saga({ name: 'test', version: '1', ...options }, body);
}

const Word = z.object({ word: z.string() });

/** Asks for a word. */
export const ask = (id: string, message = `${id}?`): Command<{ word: string }> =>
  elicit(id, { message, schema: Word });
