/** What the saga of the README deals with: a bank that honors idempotency keys, and a shop. */
export const happened: string[] = [];
const done = new Map<string, string>();

function once(key: string, what: string): string {
  if (!done.has(key)) happened.push(what);
  const id = done.get(key) ?? `${what}-${done.size + 1}`;
  done.set(key, id);
  return id;
}

export const bank = {
  charge: async (amount: number, key: string): Promise<{ readonly id: string }> => ({
    id: once(key, `charge ${amount}`),
  }),
  refund: async (_: string, key: string): Promise<string> => once(key, 'refund'),
  refundIfCharged: async (charge: string, key: string): Promise<string | undefined> =>
    done.has(charge) ? once(key, 'refund') : undefined,
};

export const shop = {
  ship: async (_: string, key: string): Promise<string> => once(key, 'ship'),
  mail: async (text: string): Promise<void> => void happened.push(text),
};
