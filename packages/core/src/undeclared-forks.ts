/** The error for an effect that needs its saga to say what an older token may do. (E7) */
export function undeclaredForks(id: string): TypeError {
  return new TypeError(
    `'${id}' compensates, pivots or runs once, and its saga does not say what an older token may do. Declare ` +
      `forks: 'refuse' (the host then needs a guard), or forks: 'accept' where going back does no harm.`,
  );
}
