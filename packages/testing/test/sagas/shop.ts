/** A shop and its bank that honour idempotency keys: the fake that sagas under test act on. */
export const shop = {
  charges: new Map<string, number>(),
  shipped: new Set<string>(),
  mails: [] as string[],
  reset(this: void): void {
    shop.charges.clear();
    shop.shipped.clear();
    shop.mails.length = 0;
  },
  async charge(cents: number, key: string): Promise<{ id: string }> {
    shop.charges.set(key, cents);
    return { id: key };
  },
  async refund(id: string, _key: string): Promise<void> {
    shop.charges.delete(id);
  },
  async ship(_payment: string, key: string): Promise<void> {
    shop.shipped.add(key);
  },
  async recall(id: string, _key: string): Promise<void> {
    shop.shipped.delete(id);
  },
  async mail(text: string, _key: string): Promise<void> {
    shop.mails.push(text);
  },
};
