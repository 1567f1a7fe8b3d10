import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  all,
  allSettled,
  call,
  now,
  poll,
  progress,
  race,
  saga,
  scope,
  sleep,
  step,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import { accepted, completed, drive, failed, type Drive } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

/** Commands that need their `yield*`: questions, and effects. */
type Made = 'elicit' | 'step' | 'poll';
type Harmless = 'sleep' | 'now' | 'progress';

/** A piece of a body. */
type Piece =
  | { readonly kind: 'one'; readonly made: Made }
  | { readonly kind: 'harmless'; readonly what: Harmless }
  /** Builds commands, does something else meanwhile, and yields them all. */
  | {
      readonly kind: 'early';
      readonly made: readonly Made[];
      readonly kept: 'array' | 'table' | 'object' | 'default argument' | 'parameters';
      readonly meanwhile: readonly Harmless[];
      readonly yields: 'in order' | 'as a group' | 'settled';
      readonly isReversed: boolean;
    }
  | { readonly kind: 'nested'; readonly in: Nesting; readonly pieces: readonly Piece[] }
  | { readonly kind: 'all'; readonly branches: readonly (readonly Piece[])[] }
  | { readonly kind: 'lost race'; readonly branches: readonly (readonly Piece[])[] }
  /** A question without `yield*`. */
  | { readonly kind: 'drop' };

type Nesting = 'helper' | 'scope' | 'call';

const made = fc.constantFrom<Made>('elicit', 'step', 'poll');
const harmless = fc.constantFrom<Harmless>('sleep', 'now', 'progress');

const branchesOf = (branch: fc.Arbitrary<Piece[]>): fc.Arbitrary<Piece[][]> =>
  fc.array(branch, { minLength: 1, maxLength: 3 });

const { pieces } = fc.letrec<{ pieces: Piece[]; piece: Piece }>((tie) => ({
  pieces: fc.array(tie('piece'), { maxLength: 4 }),
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ kind: fc.constant('one' as const), made }),
    fc.record({ kind: fc.constant('harmless' as const), what: harmless }),
    fc.record({
      kind: fc.constant('early' as const),
      made: fc.array(made, { minLength: 1, maxLength: 4 }),
      kept: fc.constantFrom(
        'array' as const,
        'table' as const,
        'object' as const,
        'default argument' as const,
        'parameters' as const,
      ),
      meanwhile: fc.array(harmless, { maxLength: 2 }),
      yields: fc.constantFrom('in order' as const, 'as a group' as const, 'settled' as const),
      isReversed: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('nested' as const),
      in: fc.constantFrom<Nesting>('helper', 'scope', 'call'),
      pieces: tie('pieces'),
    }),
    fc.record({ kind: fc.constant('all' as const), branches: branchesOf(tie('pieces')) }),
    fc.record({ kind: fc.constant('lost race' as const), branches: branchesOf(tie('pieces')) }),
  ),
}));

/** A body of pieces, made anew for each turn. `ran` gets the IDs of what runs. */
class Body {
  readonly #ran: string[];
  #made = 0;

  constructor(ran: string[]) {
    this.#ran = ran;
  }

  *run(list: readonly Piece[]): Steps<void> {
    for (const piece of list) yield* this.#one(piece);
  }

  *#one(piece: Piece): Steps<void> {
    switch (piece.kind) {
      case 'one':
        yield* this.#make(piece.made);
        break;
      case 'harmless':
        yield* this.#harmless(piece.what);
        break;
      case 'early':
        yield* this.#early(piece);
        break;
      case 'nested':
        yield* this.#nested(piece.in, piece.pieces);
        break;
      case 'all':
        yield* all(piece.branches.map((branch) => this.run(branch)));
        break;
      case 'lost race':
        yield* race({
          fast: sleep(0),
          ...Object.fromEntries(
            piece.branches.map((branch, index) => [`slow${index}`, this.#slow(branch)]),
          ),
        });
        break;
      case 'drop':
        this.#make('elicit');
    }
  }

  /** Loses every race, with a question and an effect in its hands. */
  *#slow(list: readonly Piece[]): Steps<void> {
    const kept = [this.#make('elicit'), this.#make('step')];
    yield* sleep(1_000_000);
    for (const command of kept) yield* command;
    yield* this.run(list);
  }

  #make(kind: Made): Command<unknown> {
    this.#made += 1;
    const id = `${kind}-${this.#made}`;
    const run = (): string => {
      this.#ran.push(id);
      return id;
    };
    if (kind === 'elicit') return ask(id);
    return kind === 'step' ? step(id, run) : poll(id, run, { every: 1, timeout: 10 });
  }

  *#harmless(what: Harmless): Steps<void> {
    if (what === 'sleep') yield* sleep(1);
    else if (what === 'now') yield* now();
    else yield* progress(1);
  }

  #early({ made: kinds, kept, ...rest }: Extract<Piece, { kind: 'early' }>): Steps<void> {
    const later = rest.isReversed ? [...kinds].toReversed() : kinds;
    // Questions come first: no effect may run while one of them waits.
    const sorted = [...later].toSorted((a, b) => Number(b === 'elicit') - Number(a === 'elicit'));
    const commands = sorted.map((kind) => this.#make(kind));
    if (kept === 'table') {
      const table = new Map(commands.map((command, index) => [`${index}`, command]));
      return this.#yieldAll([...table.values()], rest);
    }
    if (kept === 'object') {
      const named = Object.fromEntries(commands.map((command, index) => [`c${index}`, command]));
      return this.#yieldAll(Object.values(named), rest);
    }
    if (kept === 'default argument') {
      const yieldAll = (list = commands): Steps<void> => this.#yieldAll(list, rest);
      return yieldAll();
    }
    if (kept === 'parameters') {
      const yieldAll = (...list: readonly Command<unknown>[]): Steps<void> =>
        this.#yieldAll(list, rest);
      return yieldAll(...commands);
    }
    return this.#yieldAll(commands, rest);
  }

  *#yieldAll(
    commands: readonly Command<unknown>[],
    { meanwhile, yields }: Pick<Extract<Piece, { kind: 'early' }>, 'meanwhile' | 'yields'>,
  ): Steps<void> {
    for (const what of meanwhile) yield* this.#harmless(what);
    if (yields === 'as a group') yield* all([...commands]);
    else if (yields === 'settled') yield* allSettled([...commands]);
    else for (const command of commands) yield* command;
  }

  *#nested(nesting: Nesting, list: readonly Piece[]): Steps<void> {
    this.#made += 1;
    if (nesting === 'helper') yield* this.run(list);
    else if (nesting === 'scope') yield* scope(`s${this.#made}`, this.run(list));
    else {
      const run = (): Steps<void> => this.run(list);
      const child = saga({ name: `c${this.#made}`, version: '1' }, function* () {
        yield* run();
        return 'x';
      });
      yield* call(child, undefined);
    }
  }
}

async function play(list: readonly Piece[]): Promise<Drive & { ran: string[]; world: World }> {
  const world = new World();
  const ran: string[] = [];
  const driven = await drive({
    make: () =>
      sagaOf(function* () {
        yield* new Body(ran).run(list);
        yield* step('last', () => ran.push('last'));
        return 'done';
      }),
    world,
    answer: () => accepted({ word: 'w' }),
  });
  return { ...driven, ran, world };
}

/** Every list with a drop at one more place of a branch whose end matters. */
function withDrop(list: readonly Piece[], at: number): readonly Piece[] {
  const nested = list.flatMap((piece, index) =>
    piece.kind === 'nested' || piece.kind === 'all' ? [index] : [],
  );
  const choice = at % (list.length + 1 + nested.length);
  if (choice <= list.length) return list.toSpliced(choice, 0, { kind: 'drop' });
  const index = nested[choice - list.length - 1] as number;
  const rest = Math.floor(at / 7);
  const piece = list[index] as Extract<Piece, { kind: 'nested' | 'all' }>;
  if (piece.kind === 'nested')
    return list.with(index, { ...piece, pieces: withDrop(piece.pieces, rest) });
  const branch = rest % piece.branches.length;
  const changed = withDrop(piece.branches[branch] as readonly Piece[], rest);
  return list.with(index, { ...piece, branches: piece.branches.with(branch, changed) });
}

describe('a body that builds commands early', () => {
  it('completes without a warning if it yields them all', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (list) => {
        const { outcome, ran, world } = await play(list);
        expect(completed(outcome)).toBe('done');
        expect(ran.at(-1)).toBe('last');
        expect(world.warnings).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('never runs an effect after a question that it dropped', async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(10_000), async (list, at) => {
        const { outcome, ran } = await play(withDrop(list, at));
        expect(failed(outcome)).toMatchObject({ code: 'never_yielded' });
        expect(ran).not.toContain('last');
      }),
      { numRuns: 300 },
    );
  });
});
