/** What the sagas work on. */
export const disk: { erase(idempotencyKey: string): Promise<string> } = {
  erase: async (idempotencyKey) => (idempotencyKey === '' ? 'Kept.' : 'Erased.'),
};
