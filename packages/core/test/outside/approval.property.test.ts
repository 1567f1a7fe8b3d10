import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { approval, type Approval, type Saga } from '../../src/index.ts';
import type { ProgramState } from '../../src/model/program-state.ts';
import { completed, start, suspended, turn } from '../support/drive.ts';
import { FakeOutside } from '../support/outside.ts';
import { sagaOf } from '../support/sagas.ts';
import { World, type TurnSettings } from '../support/world.ts';

const minute = 60_000;

interface Given {
  readonly at: number;
  readonly person: number;
  readonly approved: boolean;
}

interface Scenario {
  readonly of: number;
  readonly denials: number;
  readonly timeout: number;
  readonly remindEvery: number | undefined;
  readonly escalations: readonly number[];
  readonly answers: readonly Given[];
  /** Times at which the client calls, besides once after the end. */
  readonly calls: readonly number[];
  /** Times at which the store is down. */
  readonly outage: readonly [number, number];
}

const minutes = fc.integer({ min: 1, max: 120 });

const scenario: fc.Arbitrary<Scenario> = fc.record({
  of: fc.integer({ min: 1, max: 3 }),
  denials: fc.integer({ min: 1, max: 2 }),
  timeout: minutes,
  remindEvery: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
  escalations: fc
    .uniqueArray(minutes, { maxLength: 3 })
    .map((times) => times.toSorted((one, other) => one - other)),
  answers: fc
    .array(fc.record({ at: minutes, person: fc.nat(4), approved: fc.boolean() }), { maxLength: 8 })
    .map((answers) => answers.toSorted((one, other) => one.at - other.at)),
  calls: fc
    .array(minutes, { maxLength: 8 })
    .map((times) => times.toSorted((one, other) => one - other)),
  outage: fc.tuple(minutes, minutes),
});

/** Decides without turns, forks, and stores. */
function model({ of, denials, timeout, answers }: Scenario): {
  readonly decision: string;
  readonly by: readonly number[];
} {
  const by: number[] = [];
  const count = { true: 0, false: 0 };
  for (const { at, person, approved } of answers) {
    if (at >= timeout || by.includes(person)) continue;
    by.push(person);
    count[`${approved}`] += 1;
    if (count.false >= denials) return { decision: 'denied', by };
    if (count.true >= of) return { decision: 'approved', by };
  }
  return { decision: 'timeout', by };
}

class Run {
  readonly world = new World();
  readonly outside = new FakeOutside();
  readonly sent: {
    readonly url: string;
    readonly key: string;
    readonly at: number;
    readonly isReminder: boolean;
  }[] = [];
  readonly states: ProgramState[] = [];
  readonly #began = this.world.time;
  readonly #settings: TurnSettings = {
    budget: 25_000,
    maxHold: 0,
    replace: { outside: this.outside },
  };
  readonly #program: Saga<undefined, undefined>;
  readonly #scenario: Scenario;

  constructor(given: Scenario) {
    this.#scenario = given;
    const { of, denials, timeout, remindEvery, escalations } = given;
    const { sent, world } = this;
    this.#program = sagaOf(function* () {
      const decision = yield* approval('go', {
        message: 'Go?',
        of,
        denials,
        timeout: timeout * minute,
        deliver: ({ url, idempotencyKey: key, isReminder }) =>
          void sent.push({ url, key, at: world.time, isReminder }),
        escalate: escalations.map((after) => ({ after: after * minute })),
        ...(remindEvery === undefined ? {} : { remindEvery: remindEvery * minute }),
      });
      return JSON.stringify(decision);
    });
  }

  /** Lets time pass, with the answers and the calls of the scenario. */
  async take(): Promise<Approval<unknown>> {
    let { state } = suspended(await start(this.#program, {}, this.world, this.#settings));
    const { answers, calls, outage, timeout } = this.#scenario;
    const events = [
      ...answers.map(({ at, ...given }) => ({ at, given })),
      ...calls.map((at) => ({ at, given: undefined })),
      { at: Math.max(timeout, 121, ...outage) + 1, given: undefined },
    ];
    // Stable: at the same time, answers come before calls.
    for (const { at, given } of events.toSorted((one, other) => one.at - other.at)) {
      this.world.time = this.#began + at * minute;
      this.outside.isDown = at >= outage[0] && at < outage[1];
      if (given !== undefined) {
        const { person, approved } = given;
        this.outside.answer(this.sent[0]?.url ?? '', this.world.time, {
          by: { subject: `${person}` },
          approved,
        });
        continue;
      }
      this.states.push(state);
      const outcome = await turn(this.#program, state, {}, this.world, this.#settings);
      if (outcome.status !== 'suspended')
        return JSON.parse(completed(outcome) as string) as Approval<unknown>;
      ({ state } = outcome);
    }
    return await this.fork(state);
  }

  /** Uses an older state again, long after the end. */
  async fork(state: ProgramState): Promise<Approval<unknown>> {
    this.world.time += 1_000 * minute;
    const outcome = await turn(this.#program, state, {}, this.world, this.#settings);
    return JSON.parse(completed(outcome) as string) as Approval<unknown>;
  }
}

it('an approval depends on the answers only, whenever the client calls, also on forks', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const run = new Run(given);
      const decision = await run.take();
      const expected = model(given);
      expect(decision.approved ? 'approved' : decision.reason).toBe(expected.decision);
      expect(decision.answers.map(({ by }) => (by === 'link' ? -1 : Number(by.subject)))).toEqual(
        expected.by,
      );
      expect(run.outside.open).toBe(0);
      for (const state of run.states) expect(await run.fork(state)).toEqual(decision);
    }),
  );
});

it('an approval delivers, reminds, and escalates once, never early or after the deadline', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const run = new Run(given);
      await run.take();
      const { sent } = run;
      const began = sent[0]?.at ?? 0;
      const keys = sent.map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter((key) => key === 'do:go/deliver')).toHaveLength(1);
      const escalated = sent.filter(({ key }) => key.startsWith('do:go/escalate'));
      for (const [index, { at }] of escalated.entries())
        expect(at - began).toBeGreaterThanOrEqual((given.escalations[index] ?? Infinity) * minute);
      const times = sent.filter(({ isReminder }) => isReminder).map(({ at }) => at - began);
      const every = (given.remindEvery ?? Infinity) * minute;
      // One for each interval at most, to each ticket.
      const tickets = new Map<string, number>();
      for (const { url, at, isReminder } of sent) {
        if (!isReminder) continue;
        const interval = Math.floor((at - began) / every);
        expect(interval).toBeGreaterThan(tickets.get(url) ?? 0);
        tickets.set(url, interval);
      }
      for (const time of [...times, ...escalated.map(({ at }) => at - began)])
        expect(time).toBeLessThan(given.timeout * minute);
    }),
  );
});
