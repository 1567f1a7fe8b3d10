import { elicit, saga, step } from '@mcp-saga/server';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Invoices by customer. */
export const invoices: string[] = [];
const billing = {
  create: async (customer: string, _idempotencyKey?: string): Promise<string> =>
    `invoice ${invoices.push(customer)}`,
  send: async (invoice: string, email: string): Promise<string> => `Sent ${invoice} to ${email}.`,
};

const Customer = z.object({ customer: z.string() });
const Email = z.object({ email: z.string() });

// #region before
const codec = createRequestStateCodec<{ invoice: string }>({
  key: 'a secret of at least 32 characters!',
});

export function serverBefore(): McpServer {
  const server = new McpServer({ name: 'billing', version: '1' }, { requestState: codec });
  server.registerTool('bill', { inputSchema: Customer }, async ({ customer }, { mcpReq }) => {
    const state = mcpReq.requestState<{ invoice: string }>();
    const invoice = state?.invoice ?? (await billing.create(customer));
    const answer = acceptedContent(mcpReq.inputResponses, 'email', Email);
    if (answer === undefined) {
      return inputRequired({
        inputRequests: {
          email: inputRequired.elicit({ message: 'Which address?', requestedSchema: Email }),
        },
        requestState: await codec.mint({ invoice }),
      });
    }
    return { content: [{ type: 'text', text: await billing.send(invoice, answer.email) }] };
  });
  return server;
}
// #endregion before

// #region after
export const bill = saga({ name: 'bill', version: '1', input: Customer }, function* ({ customer }) {
  const invoice = yield* step('create', ({ idempotencyKey }) =>
    billing.create(customer, idempotencyKey),
  );
  const { email } = yield* elicit('email', { message: 'Which address?', schema: Email });
  return yield* step('send', () => billing.send(invoice, email));
});
// #endregion after
