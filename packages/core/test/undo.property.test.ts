import { engineOf } from '@mcp-saga/core/program';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayMismatch, SagaCancelled, TurnAborted } from '../src/index.ts';
import type { EndRequest } from '../src/model/program.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import type { UndoneStep } from '../src/model/undo-types.ts';
import { overTheWire, type Answers } from './support/drive.ts';
import { Ledger, type Fault } from './support/ledger.ts';
import { answerBy, release, sagaOf, trees, type Node } from './support/random-undo.ts';
import { runtimeOf, seeded, World, type TurnSettings } from './support/world.ts';

/** How a saga is driven. */
interface Mode {
  /** Every effect uses the budget of its turn up: a checkpoint after each, also while undoing. */
  readonly budget?: boolean;
  /** Draws the order in which server steps complete. */
  readonly order?: number;
  readonly unheld?: boolean;
}

interface Plan extends Mode {
  readonly salt?: string;
  readonly faults?: Map<string, Fault>;
  readonly limits?: TurnSettings['limits'];
  /** Draws where each turn crashes before it succeeds. */
  readonly crash?: number;
  /** The turn that is ended from outside, and with what. */
  readonly end?: { readonly turn: number; readonly request: EndRequest };
  /** A state to continue from, with its answers, in an existing world. */
  readonly from?: {
    readonly world: World;
    readonly ledger: Ledger;
    readonly state: ProgramState;
    readonly answers: Answers;
  };
}

interface Driven {
  readonly outcome: Exclude<Outcome, { status: 'suspended' }>;
  readonly ledger: Ledger;
  readonly turns: readonly {
    readonly state: ProgramState;
    readonly answers: Answers;
    readonly calls: number;
  }[];
}

async function driven(tree: Node, plan: Plan = {}): Promise<Driven> {
  const { budget = false, order, unheld = false, salt = '', crash } = plan;
  const world = plan.from?.world ?? new World();
  const ledger =
    plan.from?.ledger ??
    new Ledger(world, {
      duration: budget ? 10 : 0,
      ...(plan.faults === undefined ? {} : { faults: plan.faults }),
    });
  const gate = order === undefined ? undefined : (signal: AbortSignal) => world.gate(signal);
  // A fresh instance each time, which knows nothing but the state.
  const make = () => sagaOf(tree, ledger, gate === undefined ? {} : { gate });
  world.compensators.set('release', release(ledger));
  const draw = crash === undefined ? undefined : seeded(crash);
  const turns: { state: ProgramState; answers: Answers; calls: number }[] = [];
  let state = plan.from?.state ?? (await engineOf(make()).begin({}));
  let answers: Answers = plan.from?.answers ?? {};
  for (let number = 1; number <= 600; number += 1) {
    const end = plan.end?.turn === number ? plan.end.request : undefined;
    const take = (settings: TurnSettings = {}): Promise<Outcome> => {
      world.order = order === undefined ? undefined : seeded(order + number);
      const { turn: t } = JSON.parse(state.head) as { turn: number };
      const all = {
        turn: t + 1,
        ...(budget ? { budget: 5, maxHold: 5 } : {}),
        ...(plan.limits === undefined ? {} : { limits: plan.limits }),
        ...settings,
        replace: {
          ...(unheld && t === 0 ? { defersEffects: 'vital' as const } : {}),
          ...settings.replace,
        },
      };
      return engineOf(make()).advance(
        overTheWire(state),
        new Map(Object.entries(answers)),
        runtimeOf(world, all),
        end,
      );
    };
    turns.push({ state, answers, calls: ledger.calls.length });
    if (draw !== undefined) await crashed(take, { ledger, world, draw });
    const outcome = await take();
    if (outcome.status !== 'suspended') return { outcome, ledger, turns };
    if (end !== undefined && !(end.error instanceof SagaCancelled))
      throw new Error('it suspended at its end');
    if (outcome.steps.length === 0) world.time += outcome.retryAfterMs ?? 0;
    state = outcome.state;
    answers = Object.fromEntries(outcome.steps.map((step) => [step.stepId, answerBy(salt)(step)]));
  }
  throw new Error('the saga did not end');
}

/**
 * The request dies before or after an effect, and then its response is dropped. The client repeats
 * the request at once: later, a question may time out, and the saga takes another branch than in
 * the dropped response.
 */
async function crashed(
  take: (settings?: TurnSettings) => Promise<Outcome>,
  {
    ledger,
    world,
    draw,
  }: { readonly ledger: Ledger; readonly world: World; readonly draw: () => number },
): Promise<void> {
  const { time } = world;
  if (draw() < 0.5) {
    const controller = new AbortController();
    let left = Math.floor(draw() * 4);
    ledger.hook = () => {
      left -= 1;
      if (left < 0) controller.abort(new Error('gone'));
    };
    try {
      await take({ signal: controller.signal });
    } catch (error) {
      expect(error).toBeInstanceOf(TurnAborted);
    }
    ledger.hook = undefined;
    world.time = time;
  }
  if (draw() < 0.5) {
    await take();
    world.time = time;
  }
}

const idsOf = (list: readonly UndoneStep[]): string[] => list.map(({ stepId }) => stepId);

/** What holds of every saga over a ledger, however it came to its end. */
function assertAccounted(
  tree: Node,
  { outcome, ledger }: Driven,
  options: { readonly parallel: boolean },
): void {
  if (outcome.status !== 'failed') return;
  expect(outcome.error).not.toBeInstanceOf(ReplayMismatch);
  expect((outcome.error as Error).name).not.toMatch(/^(?:Type|Authoring)Error$/);
  const compensated = idsOf(outcome.compensated);
  const uncompensated = idsOf(outcome.uncompensated);
  // Each step is listed once, and in one list only.
  expect(new Set([...compensated, ...uncompensated]).size).toBe(
    compensated.length + uncompensated.length,
  );
  // Compensated steps are undone.
  for (const path of compensated) expect(ledger.standing).not.toContain(path);
  // A step with an undo is undone, or is uncompensated.
  for (const path of ledger.undoable) {
    if (ledger.standing.has(path) && !ledger.safe.has(path))
      expect(uncompensated, `of ${JSON.stringify(tree)}`).toContain(path);
  }
  // Uncompensated steps have a failed undo or an unknown outcome.
  const mayFail = [...ledger.faults.keys()].map(
    (key) => key.replace(/^(do|undo):~?/, '').split('|', 1)[0] as string,
  );
  for (const path of uncompensated) {
    const known = mayFail.some((at) => at === path || at.startsWith(`${path}/`));
    expect(known || options.parallel, `${path} of ${JSON.stringify(tree)}`).toBe(true);
  }
}

const runs = Number(process.env['SAGA_RUNS'] ?? 100);
const seed = fc.integer({ min: 0, max: 1_000_000 });
const salt = fc.constantFrom('a', 'b', 'c', 'd');
const modes = (parallel: boolean): fc.Arbitrary<Mode> =>
  fc.record(
    { budget: fc.boolean(), unheld: fc.boolean(), ...(parallel ? { order: seed } : {}) },
    { requiredKeys: [] },
  );
const drawnFrom = (parallel: boolean) =>
  fc.record({
    parallel: fc.constant(parallel),
    tree: trees({ parallel }),
    mode: modes(parallel),
    salt,
  });
const branched = drawnFrom(true);
const straight = drawnFrom(false);
const both = fc.boolean().chain((parallel) => (parallel ? branched : straight));

const shape = ({ outcome, ledger }: Driven): unknown => ({
  status: outcome.status,
  result: outcome.status === 'completed' ? outcome.result : undefined,
  error: outcome.status === 'failed' ? String(outcome.error) : undefined,
  compensated: outcome.status === 'failed' ? idsOf(outcome.compensated) : [],
  uncompensated: outcome.status === 'failed' ? idsOf(outcome.uncompensated) : [],
  standing: [...ledger.standing].toSorted(),
});

describe('a random saga that ends with an undo', () => {
  it('[R1] [E3] ends the same without suspensions and with a new instance at every point', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ parallel: false }), salt, async (tree, drawn) => {
        const once = await driven(tree, { salt: drawn });
        const moved = await driven(tree, { salt: drawn, budget: true, unheld: true });
        expect(shape(moved)).toEqual(shape(once));
        assertAccounted(tree, once, { parallel: false });
      }),
      { numRuns: 3 * runs },
    );
  });

  it('[E1] [E3] runs each effect once, and undoes all effects, with crashes everywhere', async () => {
    await fc.assert(
      fc.asyncProperty(both, seed, async ({ parallel, tree, mode, salt: drawn }, crash) => {
        const each = await driven(tree, { ...mode, salt: drawn, crash });
        assertAccounted(tree, each, { parallel });
        if (parallel) return;
        expect(shape(each)).toEqual(shape(await driven(tree, { ...mode, salt: drawn })));
      }),
      { numRuns: 4 * runs },
    );
  });

  it('[E3] [E4] restores the world or reports the rest exactly, with failures everywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        both,
        fc.constantFrom<Fault>('fails', 'lost'),
        fc.option(seed, { nil: undefined }),
        async (drawn, fault, crash) => {
          const { parallel, tree, mode } = drawn;
          const whole = await driven(tree, { ...mode, salt: drawn.salt });
          for (const key of new Set(
            whole.ledger.calls.filter((call) => /^(do:|undo:)/.test(call)),
          )) {
            const faults = new Map([[key, fault]]);
            const each = await driven(tree, {
              ...mode,
              salt: drawn.salt,
              faults,
              ...(crash === undefined ? {} : { crash }),
            });
            assertAccounted(tree, each, { parallel });
          }
        },
      ),
      { numRuns: runs },
    );
  });

  it('[E3] undoes its steps if it exceeds any limit anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        both,
        fc.constantFrom('maxJournalEntries' as const, 'maxCommands' as const),
        async (drawn, name) => {
          const { parallel, tree, mode } = drawn;
          for (let limit = 1; limit <= 16; limit += 1) {
            const plan = { ...mode, salt: drawn.salt, limits: { [name]: limit } };
            assertAccounted(tree, await driven(tree, plan), {
              parallel: parallel || name === 'maxCommands',
            });
          }
        },
      ),
      { numRuns: runs },
    );
  });

  it('[E6] undoes its steps if cancelled or ended in any turn', async () => {
    await fc.assert(
      fc.asyncProperty(
        both,
        fc.boolean(),
        async ({ parallel, tree, mode, salt: drawn }, cancelled) => {
          const whole = await driven(tree, { ...mode, salt: drawn });
          for (let turn = 1; turn <= Math.min(whole.turns.length, 12); turn += 1) {
            const error = cancelled ? new SagaCancelled('bored') : new Error('too large');
            const each = await driven(tree, {
              ...mode,
              salt: drawn,
              end: { turn, request: { error } },
            });
            assertAccounted(tree, each, { parallel });
          }
        },
      ),
      { numRuns: runs },
    );
  });

  it('[E1] runs no recorded step again on forks with other answers', async () => {
    await fc.assert(
      fc.asyncProperty(both, async ({ tree, mode, salt: drawn }) => {
        const whole = await driven(tree, { ...mode, salt: drawn });
        for (const { state, answers } of whole.turns.slice(0, 12)) {
          const saga = sagaOf(tree, whole.ledger);
          const done = new Set(
            engineOf(saga)
              .timeline(state)
              .flatMap(({ kind, path, outcome }) =>
                kind === 'step' && outcome === 'done' ? [path] : [],
              ),
          );
          const before = whole.ledger.calls.length;
          const world = new World();
          const others = Object.fromEntries(
            Object.keys(answers).map((id) => [
              id,
              answerBy('other')({ stepId: id, type: 'elicitation', params: {} }),
            ]),
          );
          await driven(tree, {
            ...mode,
            salt: 'other',
            from: { world, ledger: whole.ledger, state, answers: others },
          });
          for (const call of whole.ledger.calls.slice(before)) {
            const [path] = call.replace(/^do:/, '').split('|', 1) as [string];
            if (call.startsWith('do:')) expect(done).not.toContain(path);
            // And keys depend on nothing but the place of a step: no fork can make up another one.
            expect(call).toMatch(/^(do:[^|]*(\|k\d)?|undo:~[^|]*|look)$/);
          }
        }
      }),
      { numRuns: runs },
    );
  });
});
