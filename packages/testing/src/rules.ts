import type { ClientNeed, Root } from '@mcp-saga/server';

/** One line of a script: what a test says of the world around its saga. */
export type Rule =
  | { readonly kind: 'answer'; readonly id: string; readonly answer: unknown }
  | { readonly kind: 'refuse'; readonly id: string; readonly action: 'decline' | 'cancel' }
  | { readonly kind: 'sample'; readonly id: string; readonly answer: unknown }
  | { readonly kind: 'roots'; readonly id: string; readonly roots: readonly Root[] }
  | { readonly kind: 'clientError'; readonly id: string; readonly message: string }
  | { readonly kind: 'step'; readonly id: string; readonly result: unknown }
  | { readonly kind: 'fail'; readonly id: string; readonly error: unknown; readonly times: number }
  | { readonly kind: 'timeout'; readonly id: string; readonly times: number }
  | { readonly kind: 'lose'; readonly id: string; readonly times: number }
  | { readonly kind: 'crash'; readonly id: string; readonly when: 'before' | 'after'; readonly run: number }
  | { readonly kind: 'loseResponse'; readonly turn: number }
  | { readonly kind: 'deny'; readonly need: ClientNeed }
  | { readonly kind: 'end'; readonly id: string; readonly reason: string | undefined };

type Named = Extract<Rule, { readonly id: string }>;

/**
 * The rule of some kinds that holds for a step: of those that name its path the last one; else of those that name an id
 * it repeats (`item` holds for `item#2` and for `item(key)`).
 */
export function ruleFor<K extends Named['kind']>(
  rules: readonly Rule[],
  kinds: readonly K[],
  path: string,
): Extract<Named, { readonly kind: K }> | undefined {
  const known = rules.filter((rule): rule is Extract<Named, { readonly kind: K }> =>
    (kinds as readonly string[]).includes(rule.kind),
  );
  return known.findLast(({ id }) => id === path) ?? known.findLast(({ id }) => id === unrepeated(path));
}

/** An id without its key, number and generation: `ship/item(a)#2@1` is `ship/item`. */
export function unrepeated(id: string): string {
  return id.replace(/(?:\([^/]*\))?(?:#\d+)?(?:@\d+)?$/, '');
}
