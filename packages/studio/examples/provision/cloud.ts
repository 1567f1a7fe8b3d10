import { Provider } from '@mcp-saga/testing';

interface Machine {
  readonly id: string;
  readonly address: string;
  readonly price: string;
}

/** Running machines. */
export const machines: Provider<Machine> = new Provider();
const keys = new Map<string, string>();

/** A fake of the cloud in the repository, which honors idempotency keys. */
export const cloud = {
  create: async (size: string, key: string, _signal: AbortSignal): Promise<Machine> => {
    const id = `machine-${size}`;
    keys.set(id, key);
    return machines.do(key, { id, address: '10.0.0.1', price: '0.12 EUR' });
  },
  remove: async (id: string, _key: string, _signal: AbortSignal): Promise<void> =>
    machines.undo(keys.get(id) ?? ''),
};
