import type { ClientNeed, Root } from '@mcp-saga/server/internal';
import type { OutsideGiven } from './script-answers.ts';
import { unrepeated } from '../values/step-ids.ts';

/** A line of a script: a fact of the world around the saga. */
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
  | {
      readonly kind: 'crash';
      readonly id: string;
      readonly when: 'before' | 'after';
      readonly run: number;
    }
  | { readonly kind: 'loseResponse'; readonly turn: number }
  | { readonly kind: 'deny'; readonly need: ClientNeed }
  | { readonly kind: 'late' | 'silent'; readonly id: string; readonly ms: number }
  | {
      readonly kind: 'outside';
      readonly id: string;
      readonly what: 'approval' | 'event';
      /** `true` and `false`: everybody approves or denies. An empty list: nobody answers. */
      readonly given: boolean | readonly OutsideGiven[];
    }
  | { readonly kind: 'end'; readonly id: string; readonly reason: string | undefined }
  /** The run fails with an error of this code or name, or whose message contains this string. */
  | { readonly kind: 'expectFailure'; readonly reason: string };

type Named = Extract<Rule, { readonly id: string }>;

/** Kinds of lines that answer a question. */
export const answeringKinds: ReadonlySet<Rule['kind']> = new Set<Rule['kind']>([
  'answer',
  'refuse',
  'sample',
  'roots',
  'clientError',
]);

/** Rules of a script, found by kind and ID. */
export class Rules {
  readonly #all: Rule[] = [];
  readonly #named = new Map<string, Named[]>();
  readonly #crashes = new Map<string, Rule>();

  constructor(all: readonly Rule[]) {
    this.add(...all);
  }

  get all(): readonly Rule[] {
    return this.#all;
  }

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
   * Finds the last applicable rule of some kinds for a step: by its ID (`item#1`: not for
   * `item#2`), or by the repeated ID.
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
    return (among(`${id}#1`) ?? among(id) ?? among(unrepeated(id))) as
      | Extract<Named, { readonly kind: K }>
      | undefined;
  }

  /** Finds the rule that crashes the process before or after a run of a step. */
  crash(id: string, when: 'before' | 'after', run: number): Rule | undefined {
    return this.#crashes.size === 0 ? undefined : this.#crashes.get(`${when} ${run} ${id}`);
  }
}
