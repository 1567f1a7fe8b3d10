import type { Order } from '../contender.ts';
import type { Contender } from './contender.ts';
import { LocalLambda, type DurableContext, type DurableSdk, type Testing } from './local-lambda.ts';
import { ask, codecFor, isAccepted, say, serveTool } from './sdk-server.ts';

/** A durable function. A handler of the SDK starts its executions, and completes its callbacks. */
export const durableFunction: Contender = {
  name: 'AWS durable functions',
  packages: ['@aws/durable-execution-sdk-js@2.4.0', '@aws/durable-execution-sdk-js-testing@1.1.4'],
  open: async ({ bank, warehouse, kept, death, load }) => {
    const sdk = (await load('@aws/durable-execution-sdk-js')) as DurableSdk;
    const testing = (await load('@aws/durable-execution-sdk-js-testing')) as Testing;
    const { withDurableExecution } = sdk;
    const known = kept.get('lambda') as LocalLambda | undefined;
    const lambda = known ?? new LocalLambda(sdk, testing, 'sure');
    kept.set('lambda', lambda);
    // #region function
    const refund = withDurableExecution(async ({ order, euros }: Order, ctx: DurableContext) => {
      await ctx.step('hold', () => warehouse.hold(order));
      const accepted = await ctx.waitForCallback('sure', (id) => lambda.tellCallback(id));
      if (accepted !== 'yes') {
        await ctx.step('release', () => warehouse.release(order));
        return 'Not refunded.';
      }
      const refundKey = ctx.executionContext.durableExecutionArn;
      const { id } = await ctx.step('pay', () => bank.refund(order, euros, refundKey));
      return `Refunded: ${id}`;
    });
    // #endregion function
    lambda.deploy(refund, death);
    const codec = codecFor<{ execution: string; callback: string }>();
    return {
      // #region handler
      fetch: serveTool(codec, async (order, ctx) => {
        const state = ctx.mcpReq.requestState<{ execution: string; callback: string }>();
        if (state === undefined)
          return ask(order, await codec.mint(await lambda.start(order), ctx));
        await lambda.completeCallback(state.callback, isAccepted(ctx) ? 'yes' : 'no');
        return say(String(await lambda.resultOf(state.execution)));
      }),
      // #endregion handler
      close: () => lambda.close(),
    };
  },
};
