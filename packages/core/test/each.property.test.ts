import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { each, step, type Program, type Steps } from '../src/index.ts';
import { accepted, completed, drive, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { seeded, World, type TurnSettings } from './support/world.ts';

/** What the branch of an item does, in order: a number of steps, or a question. */
interface Item {
  readonly key: string;
  readonly parts: readonly ('step' | 'question')[];
  /** Number of attempts of each step that fail, of two. */
  readonly failures: number;
}

interface Case {
  readonly items: readonly Item[];
  readonly limit: number;
  readonly order: number;
  /** Milliseconds of a turn, of which each step takes some. */
  readonly budget: number | undefined;
}

const cases: fc.Arbitrary<Case> = fc.record({
  items: fc.uniqueArray(
    fc.record({
      key: fc.string({
        minLength: 1,
        maxLength: 5,
        unit: fc.constantFrom('a', '/', ')', '(', '#', '%', '1'),
      }),
      parts: fc.array(fc.constantFrom('step' as const, 'step' as const, 'question' as const), {
        maxLength: 4,
      }),
      failures: fc.nat(1),
    }),
    { maxLength: 12, selector: ({ key }) => key },
  ),
  limit: fc.integer({ min: 1, max: 5 }),
  order: fc.nat(),
  budget: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
});

/** Runs a case in one process after the other, and counts what runs. */
class Run {
  running = 0;
  most = 0;
  readonly ran: string[] = [];
  readonly world = new World();
  readonly #case: Case;

  constructor(drawn: Case) {
    this.#case = drawn;
    this.world.order = seeded(drawn.order);
  }

  get program(): Program {
    const { items, limit } = this.#case;
    const branch = (item: Item): Steps<string> => this.#branch(item);
    return sagaOf(function* () {
      const results = yield* each(items, branch, { key: ({ key }) => key, limit });
      return results.join('|');
    });
  }

  *#branch({ key, parts, failures }: Item): Steps<string> {
    let told = key;
    for (const [at, part] of parts.entries()) {
      if (part === 'question') {
        told += ` ${(yield* ask('q')).word}`;
        continue;
      }
      const result = yield* step(
        `s${at}`,
        async ({ attempt }) => {
          this.running += 1;
          this.most = Math.max(this.most, this.running);
          await this.world.gate();
          this.world.time += 3;
          this.running -= 1;
          this.ran.push(`${key} ${at} ${attempt}`);
          if (attempt <= failures) throw new Error('once more');
          return `${at}`;
        },
        { retry: { attempts: 2, delay: 5, jitter: false } },
      );
      told += ` ${result}`;
    }
    return told;
  }

  readonly settings = (): TurnSettings =>
    this.#case.budget === undefined ? {} : { budget: this.#case.budget, maxHold: 0 };
}

/** What the saga returns, without an engine. */
function expected({ items }: Case): string {
  return items
    .map(({ key, parts }) =>
      [key, ...parts.map((part, at) => (part === 'step' ? at : 'yes'))].join(' '),
    )
    .join('|');
}

const answer = (): ReturnType<typeof accepted> => accepted({ word: 'yes' });
const runs = Number(process.env['SAGA_RUNS'] ?? 300);

describe('each, whatever its items and its limit', () => {
  it('[R1] returns the results in order, runs no more steps than its limit, and no step twice', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (drawn) => {
        const run = new Run(drawn);
        const { world, settings } = run;
        const { outcome } = await drive({ make: () => run.program, answer, world, settings });
        expect(completed(outcome)).toBe(expected(drawn));
        expect(run.most).toBeLessThanOrEqual(drawn.limit);
        expect(new Set(run.ran).size).toBe(run.ran.length);
        const steps = drawn.items.flatMap(({ parts, failures }) =>
          parts.filter((part) => part === 'step').map(() => 1 + failures),
        );
        expect(run.ran).toHaveLength(steps.reduce((sum, one) => sum + one, 0));
      }),
      { numRuns: runs },
    );
  });

  it('[R1] continues from each token in another process with the same result', async () => {
    await fc.assert(
      fc.asyncProperty(cases, fc.nat(), async (drawn, from) => {
        const run = new Run(drawn);
        const { turns } = await drive({
          make: () => run.program,
          answer,
          world: run.world,
          settings: run.settings,
        });
        const { before, answers } = turns[from % turns.length] as (typeof turns)[number];
        const other = new Run({ ...drawn, order: drawn.order + 1, limit: 1 + (drawn.limit % 3) });
        other.world.time = run.world.time;
        const first = await turn(other.program, before, answers, other.world);
        const rest =
          first.status === 'suspended'
            ? await drive({
                make: () => other.program,
                answer,
                world: other.world,
                from: first.state,
              })
            : { outcome: first };
        // The questions of the turn are asked again, because nobody answered them.
        expect(completed(rest.outcome)).toBe(expected(drawn));
      }),
      { numRuns: runs },
    );
  });

  it('[U1] asks the next questions of all branches in one turn', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (drawn) => {
        const run = new Run({ ...drawn, budget: undefined });
        const { turns } = await drive({ make: () => run.program, answer, world: run.world });
        const rounds = drawn.items.map(
          ({ parts }) => parts.filter((part) => part === 'question').length,
        );
        expect(turns).toHaveLength(1 + Math.max(0, ...rounds));
        const asked = turns.flatMap(({ outcome }) =>
          outcome.status === 'suspended' ? [suspended(outcome).steps.length] : [],
        );
        const inRound = asked.map((_, at) => rounds.filter((count) => count > at).length);
        expect(asked).toEqual(inRound);
      }),
      { numRuns: runs },
    );
  });
});
