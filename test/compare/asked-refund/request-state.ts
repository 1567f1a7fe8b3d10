import { randomUUID } from 'node:crypto';
import type { Contender } from './contender.ts';
import { ask, codecFor, isAccepted, say, serveTool } from './sdk-server.ts';

/** A handler that keeps its progress in a signed `requestState`, and sends a key to the bank. */
export const requestState: Contender = {
  name: 'requestState',
  packages: [],
  open: async ({ bank, warehouse }) => {
    const codec = codecFor<{ refundKey: string }>();
    return {
      // #region handler
      fetch: serveTool(codec, async ({ order, euros }, ctx) => {
        const state = ctx.mcpReq.requestState<{ refundKey: string }>();
        if (state === undefined) {
          await warehouse.hold(order);
          return ask({ order, euros }, await codec.mint({ refundKey: randomUUID() }, ctx));
        }
        if (!isAccepted(ctx)) {
          await warehouse.release(order);
          return say('Not refunded.');
        }
        const { id } = await bank.refund(order, euros, state.refundKey);
        return say(`Refunded: ${id}`);
      }),
      // #endregion handler
    };
  },
};
