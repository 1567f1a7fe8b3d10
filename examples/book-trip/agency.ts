/** Stand-ins for providers, in memory. Each acts once for an idempotency key. */
const done = new Map<string, string>();

/** Current bookings. */
export const booked: Set<string> = new Set();

function once(key: string, act: () => string): string {
  const before = done.get(key);
  if (before !== undefined) return before;
  const result = act();
  done.set(key, result);
  console.error(result);
  return result;
}

/** Books, pays, and mails. Cars in Atlantis and mail to Utopia fail. */
export const agency = {
  book: (what: string, city: string, key: string): string =>
    once(key, () => {
      if (what === 'car' && city === 'Atlantis') throw new Error('no cars in Atlantis');
      booked.add(what);
      return `booked a ${what} in ${city}`;
    }),
  unbook: (what: string, key: string): string =>
    once(key, () => {
      booked.delete(what);
      return `cancelled the ${what}`;
    }),
  pay: (city: string, key: string): string => once(key, () => `paid for ${city}`),
  mail: (city: string, key: string): string =>
    once(key, () => {
      if (city === 'Utopia') throw new Error('no mail in Utopia');
      return `mailed the tickets for ${city}`;
    }),
};
