/** A provider that honors idempotency keys. */
export const api = {
  released: new Map<string, { readonly id: string }>(),
  release: async (
    service: string,
    target: string,
    idempotencyKey: string,
  ): Promise<{ readonly id: string }> => {
    const release = api.released.get(idempotencyKey) ?? {
      id: `${service}-${target}-${api.released.size + 1}`,
    };
    api.released.set(idempotencyKey, release);
    return release;
  },
};
