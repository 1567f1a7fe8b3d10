import type { TestSaga } from '../run/test-saga.ts';
import { toSource } from '../script/script-source.ts';
import {
  isHarmless,
  unlessHarmless,
  type Case,
  type Explored,
  type ExploreOptions,
  type Violation,
} from './exploration.ts';
import { forgotten } from './nothing-forgotten.ts';

/** Ended run of a step. Runs count from 1. */
type Ran = Readonly<{ id: string; run: number; turn: number }>;

/**
 * Cases: the process dies after a step, and this or the first step fails when the request is sent
 * again.
 */
export function thenFailing(test: TestSaga, { run }: Explored): readonly Case[] {
  const all = ranIn(run.trace);
  return all.flatMap((last): readonly Case[] => {
    if (last.turn === 1) return [];
    const first = all.find(({ turn }) => turn === last.turn) ?? last;
    return [...new Set([last, first])].map((failing) => ({
      when: `When the process dies after '${last.id}'${nth(last)}, and '${failing.id}' fails when the request is sent again`,
      script: test,
      fault: [
        { kind: 'crash', id: last.id, when: 'after', run: last.run },
        {
          kind: 'fail',
          id: failing.id,
          error: new Error('down'),
          times: Infinity,
          from: failing.run + 1,
        },
      ],
      rank: failing === last ? 0 : 1,
    }));
  });
}

function nth({ run }: Ran): string {
  return run === 1 ? '' : `, run ${run}`;
}

function ranIn(trace: Explored['run']['trace']): readonly Ran[] {
  const runs = new Map<string, number>();
  const list: Ran[] = [];
  for (const { ...entry } of trace) {
    if ((entry.type !== 'ran' && entry.type !== 'failed') || entry.id.startsWith('~')) continue;
    const { id, turn } = entry;
    const run = (runs.get(id) ?? 0) + 1;
    runs.set(id, run);
    if (entry.type === 'ran') list.push({ id, run, turn });
  }
  return list;
}

/** Reports an effect of a dead request if the saga failed as though the effect had not happened. */
export function deniedEffect(explored: Explored, options: ExploreOptions): Violation | undefined {
  const { run, world } = explored;
  if (run.status !== 'failed') return undefined;
  const left = forgotten(explored, options);
  if (left !== undefined) return left;
  const { trace, uncompensated, compensated } = run;
  const isPastPivot = trace.some(({ type }) => type === 'passed');
  // A named turn covers all steps of the turn.
  if (isPastPivot || uncompensated.some((id) => /^turn \d+$/.test(id))) return undefined;
  const known = new Set(trace.flatMap(({ ...entry }) => (entry.type === 'ran' ? [entry.id] : [])));
  for (const id of [...compensated, ...uncompensated]) known.add(id);
  const denied = world.ledger.effects.find(
    ({ id }) => !id.startsWith('~') && !known.has(id) && !isHarmless(id, options, world),
  );
  if (denied === undefined) return undefined;
  const { id } = denied;
  const expects = `expect([...run.compensated, ...run.uncompensated]).toContain(${toSource(id)});`;
  return {
    what:
      `'${id}' happened in a request that died, the repeated request failed, and nothing undoes or names '${id}'. ` +
      "Add `unknown: 'compensate'` to the step, whose `compensate` then finds the effect by stepKey, or at least `compensate`, so that the saga reports the step. " +
      `Only a store knows of interrupted requests: remove reuse: 'ok' and store: false. ${unlessHarmless(id, 'the effect')}.`,
    expects,
  };
}
