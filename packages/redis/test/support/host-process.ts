import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, type StepAnswer } from '@mcp-saga/server';
import { Redis } from 'ioredis';
import { order } from './order.ts';
import { patient } from '../../../../test/support/patience.ts';

/** What a test asks of a process. */
export type Request =
  | { readonly do: 'start' }
  | { readonly do: 'resume'; readonly token: string; readonly answers: StepAnswer[] };

/** The outcome of a turn, with its token or error code. */
export interface Reply {
  readonly status: string;
  readonly token?: string;
  readonly result?: unknown;
}

// A host in a process of its own: it is killed, not ended.
const [url = '', prefix = '', keys = '', hangs = ''] = process.argv.slice(2);
const store = redisStore(new Redis(url), { ...patient, prefix });
const effects = {
  ship: async (key: string): Promise<void> => {
    process.send?.({ shipped: key });
    if (hangs === 'hangs') await new Promise(() => undefined);
  },
};
// The reply says why.
const hooks = { onError: () => undefined, onReject: () => undefined };
const host = createSagaHost({ sagas: [order(effects)], keys, name: 'shop', store, hooks });

process.on('message', (request: Request) => {
  const turn =
    request.do === 'start' ? host.start('order', {}) : host.resume(request.token, request.answers);
  turn.then(
    (done) => process.send?.({ reply: done }),
    (error: unknown) =>
      process.send?.({ reply: { status: String((error as { code?: unknown }).code) } }),
  );
});
process.send?.({ ready: true });
