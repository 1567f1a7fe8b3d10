import { approval, memoryQueue, memoryStore, saga, step } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { z } from 'zod';

// For a demo: check access tokens or sessions of your own instead.
const users = new Map([
  ['demo-caller', { subject: 'carl', role: 'clerk' }],
  ['demo-manager', { subject: 'ann', role: 'manager' }],
]);
let address = ''; // known when the server listens

const refund = saga(
  {
    name: 'refund',
    version: '1',
    description: 'Refunds an amount that a manager approves',
    input: z.object({ amount: z.number() }),
    task: 'prefer',
  },
  function* ({ amount }) {
    const decision = yield* approval('manager', {
      message: `Refund ${amount} EUR?`,
      schema: z.object({ comment: z.string().max(500).optional() }),
      by: { role: 'manager' },
      deliver: ({ url }) => console.log(`Decide here: ${url}`), // send a mail with its `idempotencyKey` instead
      timeout: '2d',
    });
    const answers = decision.answers.map((answer) => {
      const name = answer.by === 'link' ? 'the link' : answer.by.subject;
      const { comment = answer.approved ? 'yes' : 'no' } = Object(answer.content); // also of a denial
      return `${name}: ${comment}`;
    });
    if (!decision.approved) return `Not refunded: ${[decision.reason, ...answers].join(', ')}`;
    // pay with the `idempotencyKey` of the step instead
    yield* step('refund', () => console.log(`Refunded ${amount} EUR.`));
    return `Refunded ${amount} EUR. ${answers.join(', ')}`;
  },
);

const sagas = serveSagas({
  name: 'refunds',
  version: '1.0.0',
  sagas: [refund],
  keys: 'ephemeral', // a key that ends with this process: set SAGA_KEYS and drop this line in production
  store: memoryStore(),
  queue: memoryQueue(),
  url: () => address,
  auth: {
    authenticate: ({ headers }) => {
      const token = headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
      const user = users.get(token);
      return user && { token, clientId: 'demo', scopes: [], extra: { ...user } };
    },
    principal: (authInfo) => {
      const { clientId, extra } = Object(authInfo);
      return { subject: extra.subject, client: clientId };
    },
    mayAnswer: ({ subject }, by) =>
      [...users.values()].some((user) => user.subject === subject && user.role === Object(by).role),
  },
});

// On PORT, or 3000.
const server = serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' });
await server.ready();
address = server.url ?? '';
