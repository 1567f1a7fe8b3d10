import { elicit, race, saga, sleep, step } from '@mcp-saga/server';
import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const minute = 60_000;

/**
 * Returns the users of its turns: of the first turn, after a wait, after an answer, and after an
 * unanswered question.
 */
function users(reuse: 'ok' | undefined) {
  const options = { name: 'users', version: '1', reuse } as const;
  return saga(options, function* () {
    const user = function* (id: string) {
      return yield* step(id, ({ user: asked, services }) => {
        const { name } = Object(asked) as { readonly name?: string };
        return `${name} of ${(services as { readonly shop: string }).shop}`;
      });
    };
    const seen = [yield* user('first')];
    yield* sleep(minute);
    seen.push(yield* user('waited'));
    const asked = elicit('sure', { message: 'Sure?', schema: z.object({}) });
    yield* asked;
    seen.push(yield* user('answered'));
    const late = elicit('late', { message: 'Still sure?', schema: z.object({}) });
    yield* race({ late, end: sleep(minute) });
    seen.push(yield* user('unanswered'));
    return seen.join();
  });
}

const script = (reuse: 'ok' | undefined, queue: boolean) =>
  testSaga(users(reuse), { services: { shop: 'x' }, user: { name: 'ann' }, queue })
    .on.elicit('sure', {})
    .silent.elicit('late', minute);

describe('a saga that a queue continues', () => {
  it.each([
    [
      'reads its services, but no user, after a wait and an unanswered question',
      undefined,
      true,
      'ann of x,undefined of x,ann of x,undefined of x',
    ],
    [
      'reads the user of its client without a queue',
      undefined,
      false,
      'ann of x,ann of x,ann of x,ann of x',
    ],
    [
      'reads the user of its client under `reuse`',
      'ok',
      true,
      'ann of x,ann of x,ann of x,ann of x',
    ],
  ] as const)('%s', async (_, reuse, queue, expected) => {
    expect((await script(reuse, queue).run()).result).toBe(expected);
  });

  it('is explored without a user, too', async () => {
    const results = new Set<unknown>();
    await crashEverywhere(script(undefined, true), {
      harmless: ['*'],
      check: ({ result }) => void results.add(result),
    });
    expect([...results]).toEqual(['ann of x,undefined of x,ann of x,undefined of x']);
  });
});
