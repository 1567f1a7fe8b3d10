import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostileWorld, RandomClient, seeded, type Faults, type Part } from './hostile-world.ts';
import { hour, minute, type Sent } from './queued.ts';

const hours = fc.integer({ min: 1, max: 30 });
const times = fc.integer({ min: 0, max: 4 });
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Part>({ kind: 'step' }) },
  { weight: 1, arbitrary: fc.constant<Part>({ kind: 'pivot' }) },
  { weight: 2, arbitrary: hours.map((length): Part => ({ kind: 'sleep', hours: length })) },
  { weight: 2, arbitrary: fc.constant<Part>({ kind: 'ask' }) },
  { weight: 2, arbitrary: hours.map((length): Part => ({ kind: 'timed ask', hours: length })) },
  { weight: 2, arbitrary: times.map((count): Part => ({ kind: 'poll', times: count })) },
  { weight: 2, arbitrary: times.map((count): Part => ({ kind: 'ask and poll', times: count })) },
  { weight: 2, arbitrary: hours.map((length): Part => ({ kind: 'approval', hours: length })) },
  { weight: 1, arbitrary: fc.constant<Part>({ kind: 'abort' }) },
);

const run = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 8 }),
  seed: fc.integer(),
  dies: fc.constantFrom(0, 0.02, 0.1),
  rejects: fc.constantFrom(0, 0.3),
  repeats: fc.constantFrom(0, 0.3),
  replaces: fc.boolean(),
  leaves: fc.constantFrom(0, 0.1, 1),
  isKeyed: fc.boolean(),
});

/** Names of the effects that may stand after an end: all, or those before a pivot. */
function allowedAfter(parts: readonly Part[], end: string): readonly (readonly string[])[] {
  const before = (until: number): readonly string[] =>
    parts.slice(0, until).flatMap(({ kind }, index) => (kind === 'step' ? [`step${index}`] : []));
  if (end === 'completed') return [before(parts.length)];
  return [[], ...parts.flatMap(({ kind }, index) => (kind === 'pivot' ? [before(index)] : []))];
}

/** Chooses a message: any message, or any due one, or the first if none is due. */
function chosen(
  { pool, clock }: HostileWorld,
  draw: () => number,
  isAny: boolean,
): Sent | undefined {
  const due = isAny ? pool : pool.filter(({ at }) => at <= clock.now);
  const [first] = pool.toSorted((one, other) => one.at - other.at);
  return due[Math.floor(draw() * due.length)] ?? first;
}

describe('any saga with a client, a hostile queue, and processes that die', () => {
  it('[E1] [E8] [T13] ends, runs each effect once, and gives its client the true result', async () => {
    await fc.assert(
      fc.asyncProperty(run, async ({ parts, seed, leaves, isKeyed, ...faults }) => {
        const draw = seeded(seed);
        const world = new HostileWorld(parts, { draw, ...faults } satisfies Faults);
        const client = new RandomClient(world, draw, isKeyed);
        await (isKeyed ? client.startAgain() : client.start());
        // What a process left undone is known to the guard for minutes, so a queue may not be days
        // late as well.
        const isReliable = faults.dies === 0 && faults.rejects === 0;
        const longestDelay = isReliable ? 40 * hour : 3 * minute;
        let isHere = isKeyed || client.token !== undefined || client.end !== undefined;
        let steps = 0;
        for (
          ;
          steps < 2_000 && (world.pool.length > 0 || (isHere && client.end === undefined));
          steps += 1
        ) {
          isHere &&= draw() >= leaves && client.end === undefined;
          // A message for an old turn follows every later turn. With faults without end, it may
          // never arrive.
          const isSafe = steps >= 1_000;
          if (draw() < 0.1) await world.answer(draw, isSafe);
          if (isHere && draw() < 0.5) {
            await (client.token === undefined ? client.startAgain(isSafe) : client.act(isSafe));
            if (draw() < 0.3) world.clock.now += Math.floor(draw() * 3 * hour);
            continue;
          }
          const sent = chosen(world, draw, isReliable);
          if (sent === undefined) continue;
          if (isHere && sent.at > world.clock.now + 10 * hour) continue;
          world.clock.now =
            Math.max(world.clock.now, sent.at) +
            (draw() < 0.2 ? Math.floor(draw() * longestDelay) : 0);
          const delivered = await world
            .attempt((host) => host.deliver(sent.message), isSafe)
            .catch(() => 'again' as const);
          const isDone = typeof delivered === 'object';
          if (isDone && draw() >= faults.repeats)
            world.pool = world.pool.filter((other) => other !== sent);
        }
        const story = JSON.stringify({ standing: world.standing, ends: [...world.ends], steps });
        expect(world.problems, story).toEqual([]);
        expect(steps, story).toBeLessThan(2_000);
        // The queue may never have heard of the saga of a client that left early, but then nothing
        // happened.
        const isUnheard = client.end === undefined && world.ends.size === 0;
        if (isUnheard && (client.token === undefined || !isKeyed)) {
          expect([...world.effects], story).toEqual([]);
          return;
        }
        expect(world.ends.size, story).toBe(1);
        const [end = ''] = world.ends;
        if (client.end !== undefined) expect(client.end.status).toBe(end);
        // The last client may come at any time while its token is good.
        if (world.clock.now < client.expiresAt) {
          for (let tries = 0; tries < 20 && client.end === undefined; tries += 1) {
            await client.act(true);
          }
          expect(world.problems, story).toEqual([]);
          expect(client.end?.status, story).toBe(end);
        }
        expect(allowedAfter(parts, end), story).toContainEqual([...world.standing].toSorted());
        // What a page confirmed is what the saga decided.
        for (const [index, decided] of world.decided) {
          const told = [...(world.told.get(index) ?? decided)];
          expect([index, [...decided]], story).toEqual([index, told]);
        }
      }),
      { numRuns: Number(process.env['SAGA_RUNS'] ?? 100) },
    );
  });
});
