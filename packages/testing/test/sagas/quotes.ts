import { allSettled, elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

const Pick = z.object({ carrier: z.string().min(1) });

/** Gets two quotes at the same time, the slow one with a timeout, and asks which one to take. */
export const quotes = saga({ name: 'quotes', version: '1' }, function* () {
  const { fast, slow } = yield* allSettled({
    fast: step('fast', async () => 5, { timeout: 2_000 }),
    slow: step('slow', async () => 3, { timeout: 2_000 }),
  });
  const offered = [fast, slow].flatMap((quote) =>
    quote.status === 'fulfilled' ? [quote.value] : [],
  );
  const { carrier } = yield* elicit('carrier', {
    message: `Offers: ${offered.join(', ')}`,
    schema: Pick,
  });
  return carrier;
});
