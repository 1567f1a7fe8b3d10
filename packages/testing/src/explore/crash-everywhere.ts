import { show } from '../values/show.ts';
import type { Effect } from '../world/effect-ledger.ts';
import type { Rule } from '../script/script-rules.ts';
import { isSameValue } from '../values/same-value.ts';
import { toSource } from '../script/script-source.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import type { NamesOf } from '../values/known-options.ts';
import { baselineOf, programmingError } from './baseline.ts';
import {
  exploreNames,
  findingsIn,
  isHarmless,
  judging,
  reported,
  scriptOf,
  type Case,
  type Explored,
  type ExploreOptions,
  type ExploreReport,
  type Violation,
} from './exploration.ts';
import { deniedEffect, thenFailing } from './after-crash.ts';

/** Options of `crashEverywhere`. */
export interface CrashOptions extends ExploreOptions {
  /** `accept`: a client that loses its first response starts another saga, so first steps may run twice. Default `refuse`. */
  readonly firstRequest?: 'accept' | 'refuse';
  /** Outcome of the step when the request is sent again. `fail`: its provider is down. Default `succeed`. */
  readonly afterCrash?: 'fail' | 'succeed';
}

const crashNames: NamesOf<CrashOptions> = { ...exploreNames, firstRequest: true, afterCrash: true };

/**
 * Lets the process die before and after each step and undo, and drops the response of each turn; the client sends its request
 * again. Reports another result, other effects, an effect that runs twice without its idempotency key, and a step that runs
 * again although the client has a token from after it.
 *
 * With `afterCrash: 'fail'`, the process dies after each step, and the step fails when the request is sent again: a saga that
 * fails by that must undo or name each effect, those of the request that died included.
 *
 * A first run dies at each place in turn. Only if that run fails, each place gets a run of its own.
 *
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 *
 * @example
 * ```ts
 * await crashEverywhere(script);
 * await crashEverywhere(script, { afterCrash: 'fail' });
 * ```
 */
export async function crashEverywhere(script: Script, options: CrashOptions = {}): Promise<ExploreReport> {
  const test = scriptOf('crashEverywhere', script, options, crashNames);
  const baseline = await baselineOf(test, options.check);
  const fails = options.afterCrash === 'fail';
  const cases = fails ? thenFailing(test, baseline) : casesOf(test, baseline);
  const find = judging({
    test,
    baseline,
    check: options.check,
    judge: (crashed, before) =>
      fails
        ? (deniedEffect(crashed, options) ?? programmingError(crashed, before))
        : differenceOf(before, crashed, options),
  });
  const swept = fails ? undefined : await find(sweepOf(test, baseline));
  if (!fails && swept === undefined) return { cases: cases.length };
  const findings = await findingsIn(cases, find);
  const found = findings.length === 0 && swept !== undefined ? [swept] : findings;
  return await reported(found, cases.length, find);
}

function casesOf(script: TestSaga, { world }: Explored): readonly Case[] {
  const crashes = Array.from(world.runs).flatMap(([id, runs]) =>
    Array.from({ length: runs }, (_, index) => index + 1).flatMap((run) =>
      (['before', 'after'] as const).map((when): Case => ({
        when: `When the process dies ${when} ${nameOf(id)}${runs === 1 ? '' : `, run ${run}`}`,
        script,
        fault: [{ kind: 'crash', id, when, run }],
      })),
    ),
  );
  const losses = world.responses.map((turn): Case => ({
    when: `When the response of turn ${turn} is lost`,
    script,
    fault: [{ kind: 'loseResponse', turn }],
  }));
  return [...crashes, ...losses];
}

/** One run that dies at every place. A step that follows another in a request dies only after it: the place before is the same. */
function sweepOf(test: TestSaga, { world }: Explored): Case {
  const rules: Rule[] = [];
  for (const [id, runs] of world.runs) {
    let died = 0;
    for (let n = 1; n <= runs; n += 1) {
      if (world.fresh.has(`${id} ${n}`)) rules.push({ kind: 'crash', id, when: 'before', run: (died += 1) });
      rules.push({ kind: 'crash', id, when: 'after', run: (died += 1) });
    }
  }
  for (const turn of world.responses) rules.push({ kind: 'loseResponse', turn });
  return {
    when: 'When the process dies at one place after the other',
    script: test.with(...rules),
    fault: rules,
    sweeps: true,
  };
}

function differenceOf(baseline: Explored, crashed: Explored, options: CrashOptions): Violation | undefined {
  return (
    repeatedBeforeToken(crashed, options) ??
    repeated(baseline, crashed, options) ??
    differentEnd(baseline, crashed) ??
    differentEffects(baseline, crashed)
  );
}

function differentEnd({ run }: Explored, { run: other, world }: Explored): Violation | undefined {
  if (other.status !== run.status) {
    return {
      what: `it ${other.status}, and without that it ${run.status}.`,
      expects: `expect(run.status).toBe(${toSource(run.status)});`,
    };
  }
  // New idempotency keys and a new saga id may stand in the result.
  if (world.restarts === 0 && !isSameValue(other.result, run.result)) {
    return {
      what: `it returns ${show(other.result)}, and without that ${show(run.result)}. Does it keep something in a variable outside of its body?`,
      expects: `expect(run.result).toEqual(${toSource(run.result)});`,
    };
  }
  for (const what of ['compensated', 'residue'] as const) {
    // A step that fails in the repetition has an unknown outcome there: it may be undone or named in addition.
    const known = other[what].filter((id) => run[what].includes(id) || !isUnknown(id, world));
    if (isSameValue(known, run[what])) continue;
    return {
      what: `what was ${what === 'residue' ? 'left' : 'undone'} is ${show(other[what])}, and without that ${show(run[what])}.`,
      expects: `expect(run.${what}).toEqual(${toSource(run[what])});`,
    };
  }
  return undefined;
}

/** `true` for a step that failed after a process died, and for the turn in which it died. */
function isUnknown(id: string, { trace }: Explored['world']): boolean {
  const died = trace.findIndex(({ type }) => type === 'crashed' || type === 'lost');
  if (died === -1) return false;
  if (/^turn \d+$/.test(id)) return true;
  return trace.slice(died).some(({ ...entry }) => entry.type === 'failed' && entry.id === id);
}

function repeatedBeforeToken({ world }: Explored, options: CrashOptions): Violation | undefined {
  if (world.restarts === 0 || options.firstRequest === 'accept') return undefined;
  const twice = world.ledger.effects.filter(({ id, turns }) => turns[0] === 1 && !isHarmless(id, options));
  const [first] = twice;
  if (first === undefined) return undefined;
  return {
    what:
      `${nameOf(first.id)} happens twice. It runs in the first request, before the client has a token: the client can only ` +
      'call anew, which is a new saga with new idempotency keys. Hand out a token first: commitFirst: true in the options of ' +
      'the saga, or a question or checkpoint() before it. If to do it twice does no harm, say so: ' +
      `{ harmless: ['${first.id}'] }, or { firstRequest: 'accept' } for all of them.`,
    expects: `expect(run.effects.filter(({ id }) => id === ${toSource(first.id)})).toHaveLength(1);`,
  };
}

function differentEffects({ world }: Explored, { world: other }: Explored): Violation | undefined {
  const known = new Set(world.ledger.effects.map(({ id }) => id));
  const found = new Set(other.ledger.effects.map(({ id }) => id));
  const added = [...found].find(
    (id) => !known.has(id) && !(id.startsWith('~') && isUnknown(id.slice(1), other)),
  );
  const did = 'expect(run.effects.map(({ id }) => id))';
  if (added !== undefined) {
    return {
      what: `it does ${nameOf(added)}, which it does not do without that.`,
      expects: `${did}.not.toContain(${toSource(added)});`,
    };
  }
  const missing = [...known].find((id) => !found.has(id));
  if (missing === undefined) return undefined;
  return { what: `it never does ${nameOf(missing)}.`, expects: `${did}.toContain(${toSource(missing)});` };
}

function repeated(baseline: Explored, { world }: Explored, options: CrashOptions): Violation | undefined {
  const before = new Map(baseline.world.ledger.effects.map((effect) => [effect.key, effect]));
  for (const effect of world.ledger.effects) {
    const known = before.get(effect.key);
    if (isHarmless(effect.id, options) || effect.runs <= (known?.runs ?? 1)) continue;
    const turns = new Set(effect.turns).size;
    if (turns > new Set(known?.turns).size && known !== undefined) {
      return {
        what: `${nameOf(effect.id)} runs again in turn ${effect.turns.at(-1)}, though the client had a token behind it.`,
        expects: `expect(new Set(${effectOf(effect.id)}?.turns).size).toBe(${new Set(known.turns).size});`,
      };
    }
    const careless = carelessly(effect);
    if (careless !== undefined) return careless;
  }
  return undefined;
}

/** Reports an effect that ran more than once and never read its key. */
export function carelessly({ id, took, standIn, runs }: Effect): Violation | undefined {
  if (took || standIn || runs < 2) return undefined;
  const undo = id.startsWith('~');
  const example = undo
    ? '({ result, idempotencyKey }) => bank.refund(result.id, idempotencyKey)'
    : '(step) => bank.charge(amount, step.idempotencyKey)';
  const once = undo ? '' : 'Where the provider knows no keys, use once: true, which needs a guard. ';
  return {
    what:
      `${nameOf(id)} happens ${runs} times, and its code never looks at its idempotency key, so that nobody can tell the second ` +
      `time from the first. Send idempotencyKey along: ${example}. ${once}If it only reads, or to repeat it does no harm, say ` +
      `so: { harmless: ['${id}'] }.`,
    expects: `expect(${effectOf(id)}).toMatchObject({ took: true });`,
  };
}

const effectOf = (id: string): string => `run.effects.find(({ id }) => id === ${toSource(id)})`;

/** Names a step or an undo in a sentence. */
export function nameOf(id: string): string {
  return id.startsWith('~') ? `the undo of '${id.slice(1)}'` : `'${id}'`;
}
