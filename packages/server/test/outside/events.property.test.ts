import { waitFor, saga, memoryStore } from '@mcp-saga/server';
import {
  array,
  assert,
  asyncProperty,
  constant,
  integer,
  jsonValue,
  oneof,
  string,
} from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { hostOf, suspended } from '../fixtures/host.ts';
import { testClock } from '../fixtures/clock.ts';
import { base, day } from './case.ts';

const Any = z.looseObject({ status: z.literal('paid') });

const nested = (depth: number): string =>
  `{"status":"paid","value":${'['.repeat(depth)}${']'.repeat(depth)}}`;

/** Bodies of events: JSON of any depth, and other text. */
const body = oneof(
  jsonValue().map((value) => JSON.stringify({ status: 'paid', value })),
  integer({ min: 1, max: 100 }).map(nested),
  constant('{"status":"paid","__proto__":{"status":"paid"}}'),
  string({ unit: 'binary' }).map((text) => JSON.stringify({ status: 'paid', [text]: text })),
  jsonValue().map((value) => JSON.stringify(value)),
  string(),
);

it('[E9] events of any content are refused, ignored, or received, and never fail the saga', async () => {
  await assert(
    asyncProperty(array(body, { minLength: 1, maxLength: 4 }), async (bodies) => {
      const clock = testClock();
      const urls: string[] = [];
      const payment = saga({ name: 'payment', version: '1' }, function* () {
        const { status } = yield* waitFor('payment', {
          schema: Any,
          register: ({ url }) => void urls.push(url),
          link: 'accept',
          timeout: day,
        });
        return status;
      });
      const outside = { url: base, store: memoryStore({ clock }) };
      const { host } = hostOf(payment, { clock, ...outside, limits: { maxHold: 0 } });
      const post = (text: string): Promise<Response> =>
        host.answer(new Request(urls[0] ?? '', { method: 'POST', body: text }));
      let turn = suspended(await host.start('payment', {}));
      for (const text of bodies) {
        expect([200, 202, 400]).toContain((await post(text)).status);
        const next = await host.resume(turn.token);
        expect(next.status).not.toBe('failed');
        if (next.status !== 'suspended') return;
        turn = next;
      }
      await post('{"status":"paid"}');
      expect(await host.resume(turn.token)).toMatchObject({ status: 'completed', result: 'paid' });
    }),
    // At the limit of the journal.
    { numRuns: 50, examples: [58, 59, 60, 61, 62, 63, 64].map((depth) => [[nested(depth)]]) },
  );
});
