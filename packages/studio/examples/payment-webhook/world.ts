import { Provider } from '@mcp-saga/testing';

/** Goods that are reserved, and parcels. */
export const reservations: Provider<string> = new Provider();
export const parcels: Provider<string> = new Provider();
const keys = new Map<string, string>();

/**
 * Fakes of the payment provider and of the warehouse in the repository, which honor idempotency
 * keys.
 */
export const provider = {
  checkout: async (_request: object, key: string, _signal: AbortSignal): Promise<string> => key,
};
export const warehouse = {
  reserve: async (order: string, key: string, _signal: AbortSignal): Promise<void> => {
    keys.set(order, key);
    reservations.do(key, order);
  },
  release: async (order: string, _key: string, _signal: AbortSignal): Promise<void> =>
    reservations.undo(keys.get(order) ?? ''),
  ship: async (order: string, key: string, _signal: AbortSignal): Promise<string> =>
    parcels.do(key, `parcel-${order}`),
};
