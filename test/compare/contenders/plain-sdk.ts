import { toText, type Contender } from '../contender.ts';
import { sdkTool } from '../sdk-tool.ts';

/** A handler of the official SDK that calls the provider. */
export const plainSdk: Contender = {
  name: 'MCP SDK',
  authorWrote: 'nothing',
  hasKey: true,
  open: async ({ provider }) =>
    sdkTool(async (order) => {
      const { id } = await provider.refund(order.order, order.euros);
      return toText(order, id);
    }),
};

/** The same, but the key of the client goes to the provider. */
export const plainSdkWithKey: Contender = {
  name: 'MCP SDK, key passed on',
  authorWrote: 'reads the key of the client, and sends it to the provider',
  hasKey: true,
  open: async ({ provider }) =>
    sdkTool(async (order, key) => {
      const { id } = await provider.refund(order.order, order.euros, key);
      return toText(order, id);
    }),
};
