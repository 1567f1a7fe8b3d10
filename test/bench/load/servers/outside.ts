import { approval, createSagaHost, generateKey, saga, step } from '@mcp-saga/server';
import type { QueueConsumer } from '@mcp-saga/server/stores';
import { serve } from 'srvx';
import { openQueue, openStore } from './stores.ts';

// A saga that waits for one answer. For each message of the parent process, the server starts a
// saga without a client. A POST to `/bare` makes as many round trips to the database, and sends a
// message through the same queue: the message alone is the effect.
const hour = 3_600_000;
const { store, ping } = await openStore();
const { queue, startWorker } = await openQueue();
const bare = { sagaId: 'bare', turn: 0, token: '' };
/** Calls of the store since the last POST, and those between the last answer and its effect. */
let calls = 0;
let trips = 0;
const counting = <T extends object>(part: T): T =>
  new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        calls += 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
const reportEffect = (): void => void process.send?.({ isEffect: true });
const receiving =
  (deliver: QueueConsumer['deliver']): QueueConsumer['deliver'] =>
  async (message) => {
    if (message.sagaId !== bare.sagaId) return await deliver(message);
    reportEffect();
    return { status: 'ended', sagaId: bare.sagaId };
  };

let link = '';
const waits = saga({ name: 'waits', version: '1' }, function* () {
  yield* approval('manager', {
    message: 'Go on?',
    link: 'accept',
    deliver: async ({ url }) => void (link = url),
    timeout: hour,
  });
  yield* step('effect', async () => {
    trips = calls;
    reportEffect();
  });
  return 'done';
});

let answer = async (_request: Request): Promise<Response> => new Response(null, { status: 503 });
const server = serve({
  fetch: (request) => answer(request),
  hostname: '127.0.0.1',
  port: 0,
  silent: true,
});
await server.ready();
const host = createSagaHost({
  sagas: [waits],
  keys: generateKey(),
  name: 'bench',
  store: ping === undefined ? store : counting(store),
  queue: {
    ...queue,
    start: (consumer) => queue.start?.({ ...consumer, deliver: receiving(consumer.deliver) }),
  },
  url: server.url ?? '',
  limits: { maxHold: 0 },
  hooks: { onWarning: () => {} },
  testing: { environment: 'production' },
});
answer = async (request) => {
  if (!request.url.endsWith('/bare')) {
    calls = 0;
    return await host.answer(request);
  }
  for (let trip = 0; trip < trips; trip += 1) await ping?.();
  await queue.send(bare, Date.now());
  return new Response();
};
await startWorker({ deliver: receiving((message) => host.deliver(message)) });
// The host sends the link after the turn, when the queue has the message that wakes the saga.
process.on('message', () => void host.start('waits', {}).then(() => process.send?.({ link })));
process.on('disconnect', () => process.exit());
process.send?.({ link: new URL('/bare', server.url).href });
