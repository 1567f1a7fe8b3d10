import { elicit, saga, step, StepError } from '@mcp-saga/server';
import { z } from 'zod';

const Confirmation = z.object({ confirmed: z.boolean() });

/** Asks the user, and sends an invoice if the user confirms it. */
export const sendInvoice = saga(
  {
    name: 'send_invoice',
    version: '1',
    description: 'Sends an invoice after the user confirms it',
    input: z.object({ customer: z.string(), amount: z.number().positive() }),
  },
  function* ({ customer, amount }) {
    const { confirmed } = yield* elicit('confirm', {
      message: `Send an invoice of ${amount} EUR to ${customer}?`,
      schema: Confirmation,
    });
    if (!confirmed) return 'Not sent.';
    try {
      const invoice = yield* step('send', ({ idempotencyKey }) => {
        // Call your provider here, and pass the key: after a crash, the step runs again with the
        // same key.
        return { id: `INV-${idempotencyKey.slice(0, 8)}` };
      });
      return `Sent ${invoice.id} to ${customer}.`;
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      // After a timeout or a lost response, the provider may have sent the invoice.
      return `It is unknown if the invoice to ${customer} was sent. Check before you send another one.`;
    }
  },
);
