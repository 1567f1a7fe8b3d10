import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Effect } from '../server/effects.ts';
import type { Subject } from '../subject.ts';
import { accepted, completed } from './answers.ts';
import { ask, clientOf } from './wire.ts';
import { wireWays } from '../../support/wire/ways.ts';

/** Those that need neither a session nor a store. */
const ways = wireWays.filter(({ dialect }) =>
  ['saga methods', 'multi round-trip', 'resume token'].includes(dialect),
);

/** Creates a label that is long enough to be compressed in the token. */
function longLabel(): string {
  return randomUUID().repeat(60);
}

/** Tests runtimes that share only their key. */
export function fleetSuite(subjects: readonly Subject[]): void {
  it('[P1] [P2] [E1] one saga continues from runtime to runtime, and each runs its step once', async () => {
    const label = longLabel();
    const { last } = await relay(subjects, label);
    const result = await goOn(subjects.at(-1), last, subjects.length);
    const { places } = JSON.parse(result) as { readonly places: readonly string[] };
    // Values from the first runtime survive all others: a BigInt, a Date, and a Set.
    expect(places).toEqual(subjects.map(({ name }, index) => `${index + 1} ${index + 1} ${name}`));
    const ran = await Promise.all(subjects.map((subject) => subject.effects(label)));
    expect(ran.map((effects) => effects.map(({ what }) => what))).toEqual(
      subjects.map((_, index) => [`pass ${index + 1}`]),
    );
    expect(new Set(ran.flat().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(
      subjects.length,
    );
  });

  it.each(ways)(
    '[P1] [P2] each request of a call by $dialect, $era, may reach another runtime',
    async (way) => {
      const label = longLabel();
      let sent = 0;
      const inTurns = (): URL => (subjects[sent++ % subjects.length] as Subject).mcp();
      const client = clientOf(inTurns, way, { 'elicitation/create': accepted({ place: 'here' }) });
      const result = await client.call('relay', { label, stops: subjects.length });
      expect(result).toMatchObject({ content: [{ text: expect.stringContaining('"1 1 here"') }] });
      const ran = await Promise.all(subjects.map((subject) => subject.effects(label)));
      expect(ran.map((effects) => effects.length)).toEqual(subjects.map(() => 1));
    },
  );

  it('[P1] [E1] [T8] a token leads to the same idempotency key and random values on every runtime', async () => {
    const label = longLabel();
    const { last } = await relay(subjects, label);
    const results = new Set<string>();
    const keys: Effect[] = [];
    for (const subject of subjects) {
      const { drawn } = JSON.parse(await goOn(subject, last, subjects.length)) as {
        readonly drawn: unknown[];
      };
      results.add(JSON.stringify(drawn));
      keys.push(
        ...(await subject.effects(label)).filter(({ what }) => what === `pass ${subjects.length}`),
      );
    }
    expect(results.size).toBe(1);
    expect(keys).toHaveLength(subjects.length);
    expect(new Set(keys.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });
}

/**
 * Starts a saga on the first runtime, and continues it on all but the last. Returns the token for
 * the last one.
 */
async function relay(
  subjects: readonly Subject[],
  label: string,
): Promise<{ readonly last: string }> {
  const [first] = subjects;
  if (first === undefined) throw new Error('Nothing runs.');
  const args = { label, stops: subjects.length };
  let { result } = await ask(first.mcp(), 'tools/callSaga', { name: 'relay', arguments: args });
  for (const [index, subject] of subjects.slice(0, -1).entries()) {
    ({ result } = await ask(subject.mcp(), 'tools/resumeSaga', {
      sagaToken: result?.['sagaToken'],
      completedSteps: completed(idOf(index + 1), accepted({ place: subject.name })),
    }));
  }
  return { last: String(result?.['sagaToken']) };
}

/** Continues to the end, and returns the result of the saga. */
async function goOn(
  subject: Subject | undefined,
  sagaToken: string,
  stop: number,
): Promise<string> {
  if (subject === undefined) throw new Error('Nothing runs.');
  const { result } = await ask(subject.mcp(), 'tools/resumeSaga', {
    sagaToken,
    completedSteps: completed(idOf(stop), accepted({ place: subject.name })),
  });
  const [block] = (result?.['content'] ?? []) as readonly { readonly text: string }[];
  return block?.text ?? '';
}

function idOf(stop: number): string {
  return stop === 1 ? 'stop' : `stop#${stop}`;
}
