import { toSource } from '../script/script-source.ts';
import { isHarmless, type Explored, type ExploreOptions, type Violation } from './exploration.ts';

/** An effect that happened, or may have happened. */
interface Happened {
  readonly id: string;
  readonly sure: boolean;
}

/** Reports an effect of a failed saga that is neither undone nor residue, and undos that are not last first. */
export function forgotten({ run }: Explored, options: ExploreOptions): Violation | undefined {
  if (run.status !== 'failed') return undefined;
  const named = new Set([...run.compensated, ...run.residue]);
  const happened = happenedIn(run.trace);
  const left = happened.find(({ id }) => !named.has(id) && !isHarmless(id, options));
  if (left !== undefined) {
    const what = left.sure
      ? `'${left.id}' happened, the saga failed, and nothing undoes it. Give the step compensate: ({ result, stepKey, idempotencyKey }) => …, which ` +
        'undoes what has this result, or was done by stepKey; by idempotencyKey a repeated undo is known again. ' +
        `Where nothing has to be undone, say so: { harmless: ['${left.id}'] }; where there is no way back, yield* pivot(…).`
      : `nobody knows whether '${left.id}' happened, the saga failed, and nobody is told. Give the step compensateUnknown: ` +
        `({ stepKey, idempotencyKey }) => …, or at least compensate, so that it is named as residue; where that does not ` +
        `matter, say so: { harmless: ['${left.id}'] }.`;
    const expects = `expect([...run.compensated, ...run.residue]).toContain(${toSource(left.id)});`;
    return { what, expects };
  }
  const order = happened.map(({ id }) => id).toReversed();
  const places = run.compensated.map((id) => order.indexOf(id)).filter((place) => place !== -1);
  const outOfOrder = places.some((place, index) => index > 0 && place < (places[index - 1] as number));
  if (!outOfOrder) return standing(run, options);
  const wanted = order.filter((id) => run.compensated.includes(id));
  return {
    what: `it was undone in the order ${run.compensated.join(', ')}, and not last first: ${order.join(', ')}.`,
    expects: `expect(run.compensated).toEqual(${toSource(wanted)});`,
  };
}

/** Reports an effect that a provider still has, though the saga failed and reports the step as undone or not at all. */
function standing({ trace, ...run }: Explored['run'], options: ExploreOptions): Violation | undefined {
  const isPastPivot = trace.some((entry) => entry.type === 'passed' && entry.kind === 'pivot');
  const isUndone = (id: string): boolean => run.compensated.includes(id);
  const left = run.standing.find(
    (id) => !run.residue.includes(id) && !isHarmless(id, options) && (isUndone(id) || !isPastPivot),
  );
  if (left === undefined || run.residue.some((id) => /^turn \d+$/.test(id))) return undefined;
  const how = isUndone(left) ? `The undo of '${left}' ran` : 'The saga failed';
  return {
    what:
      `${how}, and what '${left}' did is still in the provider. Undo it by the key of the step: ` +
      `({ stepKey }) => provider.undo(stepKey). If it does no harm, say so: { harmless: ['${left}'] }.`,
    expects: `expect(run.standing).not.toContain(${toSource(left)});`,
  };
}

/** Effects that a failed saga must undo or name, in order. */
function happenedIn(trace: Explored['run']['trace']): readonly Happened[] {
  const list: Happened[] = [];
  let past = false;
  for (const entry of trace) {
    if (entry.type === 'passed' && entry.kind === 'pivot') {
      past = true;
      list.length = 0;
    } else if (past) {
      continue;
    } else if (entry.type === 'passed') {
      // An undo that was registered by itself stands for what was done before it.
      list.pop();
    } else if (entry.type === 'ran' && !entry.id.startsWith('~')) {
      const open = list.findIndex(({ id }) => id === entry.id);
      if (open !== -1) list.splice(open, 1);
      list.push({ id: entry.id, sure: true });
    } else if (entry.type === 'failed' && isUnknown(entry.error) && !list.some(({ id }) => id === entry.id)) {
      list.push({ id: entry.id, sure: false });
    }
  }
  return list;
}

function isUnknown(error: unknown): boolean {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  return code === 'timeout' || code === 'outcome_unknown' || name === 'AbortError' || name === 'TimeoutError';
}

/** Reports a completed saga that undid an effect in a request that died, and did not fail when it was sent again. */
export function keptUndone({ run, world }: Explored, options: ExploreOptions): Violation | undefined {
  if (run.status !== 'completed') return undefined;
  const undone = [...world.undoneInVain].find((id) => !isHarmless(id, options));
  if (undone === undefined) return undefined;
  const what =
    `it completed, though '${undone}' was undone in a request that died: sent again, nothing failed any more, and what was ` +
    "undone under the key of a step stays undone. With forks: 'refuse' the guard of the host keeps that it failed before " +
    'anything is undone. Without one, keep it yourself: catch the error, yield* checkpoint(), and throw it again. If it does ' +
    `no harm, say so: { harmless: ['${undone}'] }.`;
  return { what, expects: "expect(run.status).toBe('failed');" };
}
