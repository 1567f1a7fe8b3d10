import { isUnknownOutcome } from '@mcp-saga/server/internal';
import { toSource } from '../script/script-source.ts';
import { isHarmless, unlessHarmless } from './exploration.ts';
import type { Explored, ExploreOptions, Violation } from './exploration.ts';

/** An effect, certain or possible. `died`: its request died, and the repeated one ran it no more. */
type Happened = Readonly<{ id: string; sure: boolean; turn: number; died?: true }>;

/**
 * Reports an effect of a failed saga, neither undone nor uncompensated, and undos in a wrong order.
 */
export function forgotten(
  { run, world }: Explored,
  options: ExploreOptions,
): Violation | undefined {
  if (run.status !== 'failed') return undefined;
  const named = new Set([...run.compensated, ...run.uncompensated]);
  const happened = happenedIn(run.trace);
  const namesTurn = run.uncompensated.some((id) => /^turn \d+$/.test(id));
  // Deliveries of questions to other people do no harm.
  const left = happened.find(
    ({ id, died }) =>
      !named.has(id) &&
      // A named turn covers what only its dead request ran.
      !(died && namesTurn) &&
      !isHarmless(id, options, world) &&
      !world.outside.owns(id),
  );
  if (left !== undefined) {
    const expects = `expect([...run.compensated, ...run.uncompensated]).toContain(${toSource(left.id)});`;
    const what = left.sure
      ? `'${left.id}' happened, the saga failed, and nothing undoes '${left.id}'. Add \`compensate: ({ result, stepKey, idempotencyKey }) => …\` ` +
        'to the step, which undoes the effect by its result or by stepKey, and sends idempotencyKey with the undo. ' +
        `If there is no way back, yield* pivot(…). ${unlessHarmless(left.id, 'the effect')}.`
      : `the outcome of '${left.id}' is unknown, the saga failed, and its error does not name '${left.id}'. Add ` +
        "`unknown: 'compensate'` to the step, whose `compensate` then finds the effect by stepKey, or at least `compensate`, so that " +
        `the saga reports the step. ${unlessHarmless(left.id, 'the effect')}.`;
    return { what, expects };
  }
  const order = happened.map(({ id }) => id).toReversed();
  const places = run.compensated.map((id) => order.indexOf(id)).filter((place) => place !== -1);
  const outOfOrder = places.some(
    (place, index) => index > 0 && place < (places[index - 1] as number),
  );
  if (!outOfOrder) return standing({ run, world }, options);
  const wanted = order.filter((id) => run.compensated.includes(id));
  return {
    what: `it was undone in the order ${run.compensated.join(', ')}, not in reverse order: ${order.join(', ')}.`,
    expects: `expect(run.compensated).toEqual(${toSource(wanted)});`,
  };
}

/**
 * Reports an effect left in a provider although the saga failed and reports the step as undone or
 * not at all.
 */
function standing(
  { run: { trace, ...run }, world }: Explored,
  options: ExploreOptions,
): Violation | undefined {
  const isPastPivot = trace.some(({ type }) => type === 'passed');
  const isUndone = (id: string): boolean => run.compensated.includes(id);
  const left = run.standing.find(
    (id) =>
      !run.uncompensated.includes(id) &&
      !isHarmless(id, options, world) &&
      (isUndone(id) || !isPastPivot),
  );
  if (left === undefined || run.uncompensated.some((id) => /^turn \d+$/.test(id))) return undefined;
  const how = isUndone(left) ? `The undo of '${left}' ran` : 'The saga failed';
  return {
    what:
      `${how}, and the effect of '${left}' is still in the provider. Undo the effect by the key of the step: ` +
      `({ stepKey }) => provider.undo(stepKey). If the effect does no harm, pass { harmless: ['${left}'] }.`,
    expects: `expect(run.standing).not.toContain(${toSource(left)});`,
  };
}

/** Effects for a failed saga to undo or name, in order. */
function happenedIn(trace: Explored['run']['trace']): readonly Happened[] {
  const list: Happened[] = [];
  let past = false;
  for (const entry of trace) {
    if (entry.type === 'passed') {
      past = true;
      list.length = 0;
    } else if (past) {
      continue;
    } else if (entry.type === 'ran' && !entry.id.startsWith('~')) {
      const open = list.findIndex(({ id }) => id === entry.id);
      if (open !== -1) list.splice(open, 1);
      list.push({ id: entry.id, sure: true, turn: entry.turn });
    } else if (entry.type === 'failed') {
      // A step takes its place among the undos when its last attempt ends.
      const open = list.findIndex(({ id }) => id === entry.id);
      const [known] = open === -1 ? [] : list.splice(open, 1);
      if (known !== undefined || isUnknownOutcome(entry.error))
        list.push(known ?? { id: entry.id, sure: false, turn: entry.turn });
    } else if (entry.type === 'crashed') {
      for (const [at, each] of list.entries())
        if (each.turn === entry.turn) list[at] = { ...each, died: true };
    }
  }
  return list;
}

/**
 * Reports a completed saga with an effect undone in a dead request: the repeated request did not
 * fail.
 */
export function keptUndone(
  { run, world }: Explored,
  options: ExploreOptions,
): Violation | undefined {
  if (run.status !== 'completed') return undefined;
  const undone = [...world.undoneInVain].find((id) => !isHarmless(id, options, world));
  if (undone === undefined) return undefined;
  const what =
    `it completed without the effect of '${undone}': a request that died had undone '${undone}', and the repeated request did ` +
    'not fail. If each token counts once, the store keeps the failure before any undo. Otherwise, catch the error, yield* ' +
    `checkpoint(), and throw the error again. If the missing effect does no harm, pass { harmless: ['${undone}'] }.`;
  return { what, expects: "expect(run.status).toBe('failed');" };
}
