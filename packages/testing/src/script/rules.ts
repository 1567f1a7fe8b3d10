import type { ClientNeed, Root } from '@mcp-saga/server/internal';
import { unrepeated } from '../values/step-ids.ts';

/** One line of a script: what a test says of the world around its saga. */
export type Rule =
  | { readonly kind: 'answer'; readonly id: string; readonly answer: unknown }
  | { readonly kind: 'refuse'; readonly id: string; readonly action: 'decline' | 'cancel' }
  | { readonly kind: 'sample'; readonly id: string; readonly answer: unknown }
  | { readonly kind: 'roots'; readonly id: string; readonly roots: readonly Root[] }
  | { readonly kind: 'clientError'; readonly id: string; readonly message: string }
  | { readonly kind: 'step'; readonly id: string; readonly result: unknown }
  | {
      readonly kind: 'fail';
      readonly id: string;
      readonly error: unknown;
      readonly times: number;
      readonly from?: number;
    }
  | { readonly kind: 'timeout'; readonly id: string; readonly times: number }
  | { readonly kind: 'lose'; readonly id: string; readonly times: number }
  | { readonly kind: 'crash'; readonly id: string; readonly when: 'before' | 'after'; readonly run: number }
  | { readonly kind: 'loseResponse'; readonly turn: number }
  | { readonly kind: 'deny'; readonly need: ClientNeed }
  | { readonly kind: 'late' | 'silent'; readonly id: string; readonly ms: number }
  | { readonly kind: 'end'; readonly id: string; readonly reason: string | undefined };

type Named = Extract<Rule, { readonly id: string }>;

/** Kinds of lines that say what a client sends for a question. */
export const answeringKinds: ReadonlySet<Rule['kind']> = new Set<Rule['kind']>([
  'answer',
  'refuse',
  'sample',
  'roots',
  'clientError',
]);

/** The rules of a script, found by kind and id. */
export class Rules {
  readonly #all: Rule[] = [];
  readonly #named = new Map<string, Named[]>();
  readonly #crashes = new Map<string, Rule>();

  constructor(all: readonly Rule[]) {
    this.add(...all);
  }

  /** All of them, in the order they were said. */
  get all(): readonly Rule[] {
    return this.#all;
  }

  /** Says something more. */
  add(...rules: readonly Rule[]): void {
    for (const rule of rules) {
      this.#all.push(rule);
      if (!('id' in rule)) continue;
      if (rule.kind === 'crash') this.#crashes.set(`${rule.when} ${rule.run} ${rule.id}`, rule);
      const known = this.#named.get(rule.id);
      if (known === undefined) this.#named.set(rule.id, [rule]);
      else known.push(rule);
    }
  }

  /**
   * The rule of some kinds that holds for a step: of those that name its id the last one; else of those that name an id it
   * repeats (`item` holds for `item#2` and for `item(key)`).
   *
   * @param holds - whether a rule still holds; default: each does
   */
  find<K extends Named['kind']>(
    kinds: readonly K[],
    id: string,
    holds: (rule: Named) => boolean = () => true,
  ): Extract<Named, { readonly kind: K }> | undefined {
    const among = (name: string): Named | undefined =>
      this.#named
        .get(name)
        ?.findLast((rule) => (kinds as readonly string[]).includes(rule.kind) && holds(rule));
    return (among(id) ?? among(unrepeated(id))) as Extract<Named, { readonly kind: K }> | undefined;
  }

  /** The rule by which the process dies before, or after, the nth run of the code of a step. */
  crash(id: string, when: 'before' | 'after', run: number): Rule | undefined {
    return this.#crashes.size === 0 ? undefined : this.#crashes.get(`${when} ${run} ${id}`);
  }
}
