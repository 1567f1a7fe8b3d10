import { show } from '../values/show.ts';
import type { Effect } from '../world/world-effects.ts';
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
} from './exploration.ts';
import type { Case, Explored, ExploreOptions, ExploreReport, Violation } from './exploration.ts';
import { deniedEffect, thenFailing } from './after-crash.ts';

/** Options of `crashEverywhere`. */
export interface CrashOptions extends ExploreOptions {
  /**
   * `accept`: first steps may run twice, as a client without its first response starts another
   * saga. @default 'refuse'
   */
  readonly firstRequest?: 'accept' | 'refuse';
  /**
   * Outcome of the step when the request is sent again. `fail`: its provider is down. @default
   * 'succeed'
   */
  readonly afterCrash?: 'fail' | 'succeed';
}

const crashNames: NamesOf<CrashOptions> = { ...exploreNames, firstRequest: true, afterCrash: true };

/**
 * Kills the process before and after each step and undo, and drops the response of each turn; the
 * client sends its request again. Reports a different result, different effects, an effect that
 * runs twice without its idempotency key, and a step that runs again although the client has a
 * later token.
 *
 * With `afterCrash: 'fail'`, the process dies after each step, and the step fails when the request
 * is sent again. A saga that then fails must undo or name each effect, including those of the
 * interrupted request.
 *
 * A first run dies at each place in turn. Only if this run fails, each place gets a separate run.
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', ({ idempotencyKey }) => api.ship(idempotencyKey));
 *   return 'done';
 * });
 * await crashEverywhere(testSaga(order, { before: () => api.reset() }), { afterCrash: 'fail', harmless: ['ship'] });
 * ```
 */
export async function crashEverywhere(
  script: Script,
  options: CrashOptions = {},
): Promise<ExploreReport> {
  const test = scriptOf('crashEverywhere', script, options, crashNames);
  const baseline = await baselineOf(test, options.check);
  const fails = options.afterCrash === 'fail';
  const cases = fails ? thenFailing(test, baseline) : casesOf(test, baseline);
  const find = judging({
    test,
    baseline,
    check: options.check,
    onCase: options.onCase,
    judge: (crashed, before) =>
      fails
        ? (deniedEffect(crashed, options) ?? programmingError(crashed.run, before.run))
        : differenceOf(before, crashed, options),
  });
  const single = fails || options.onCase !== undefined;
  const swept = single ? undefined : await find(sweepOf(test, baseline));
  if (!single && swept === undefined) return { cases: cases.length };
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

/**
 * One run that dies at every place. A step after another in a request dies only afterwards: the
 * place before is the same.
 */
function sweepOf(test: TestSaga, { world }: Explored): Case {
  const rules: Rule[] = [];
  for (const [id, runs] of world.runs) {
    let died = 0;
    for (let n = 1; n <= runs; n += 1) {
      if (world.fresh.has(`${id} ${n}`))
        rules.push({ kind: 'crash', id, when: 'before', run: (died += 1) });
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

function differenceOf(
  baseline: Explored,
  crashed: Explored,
  options: CrashOptions,
): Violation | undefined {
  return (
    repeatedBeforeToken(baseline, crashed, options) ??
    repeated(baseline, crashed, options) ??
    differentEnd(baseline, crashed) ??
    differentEffects(baseline, crashed)
  );
}

function differentEnd({ run }: Explored, { run: other, world }: Explored): Violation | undefined {
  if (other.status !== run.status) {
    return {
      what: `the saga ${other.status}; undisturbed, the saga ${run.status}.`,
      expects: `expect(run.status).toBe(${toSource(run.status)});`,
    };
  }
  // New idempotency keys and a new saga id may stand in the result.
  if (
    run.status === 'completed' &&
    world.restarts === 0 &&
    !isSameValue(other.result, run.result)
  ) {
    return {
      what: `the saga returns ${show(other.result)}; undisturbed, ${show(run.result)}. Check the saga for state in a variable outside of its body.`,
      expects: `expect(run.result).toEqual(${toSource(run.result)});`,
    };
  }
  for (const what of ['compensated', 'uncompensated'] as const) {
    // A failure in the repetition has an unknown outcome: the step may be undone or named in
    // addition.
    const known = other[what].filter((id) => run[what].includes(id) || !isUnknown(id, world));
    if (isSameValue(known, run[what])) continue;
    return {
      what: `${what} are ${show(other[what])}; undisturbed, ${show(run[what])}.`,
      expects: `expect(run.${what}).toEqual(${toSource(run[what])});`,
    };
  }
  return undefined;
}

/** `true` for a step with a failure after a crash, and for the turn of the crash. */
function isUnknown(id: string, { trace }: Explored['world']): boolean {
  const died = trace.findIndex(({ type }) => type === 'crashed' || type === 'lost');
  if (died === -1) return false;
  if (/^turn \d+$/.test(id)) return true;
  return trace.slice(died).some(({ ...entry }) => entry.type === 'failed' && entry.id === id);
}

function repeatedBeforeToken(
  baseline: Explored,
  { world }: Explored,
  options: CrashOptions,
): Violation | undefined {
  if (options.firstRequest === 'accept') return undefined;
  const { effects } = world.ledger;
  const first = effects.find(({ id, key }) => world.isAbandoned(key) && !isHarmless(id, options));
  if (first === undefined) return undefined;
  // A key of the step may vary, as with yield* uuid().
  const hasSameId = effects.filter(({ id }) => id === first.id).length > 1;
  return {
    what:
      `${nameOf(first.id)} happens twice. The step runs in the first request, before the client has a token: the client can only ` +
      'start a new saga, with new idempotency keys. Give the client a token first: `commitFirst: true` in the options of the ' +
      'saga, or a question or checkpoint() before the step. If a second effect does no harm, pass ' +
      `{ harmless: ['${first.id}'] }, or { firstRequest: 'accept' } for all first steps.`,
    expects: hasSameId
      ? `expect(run.effects.filter(({ id }) => id === ${toSource(first.id)})).toHaveLength(1);`
      : `expect(run.effects).toHaveLength(${baseline.world.ledger.effects.length});`,
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
      what: `the saga runs ${nameOf(added)}, which does not run undisturbed.`,
      expects: `${did}.not.toContain(${toSource(added)});`,
    };
  }
  const missing = [...known].find((id) => !found.has(id));
  if (missing === undefined) return undefined;
  return {
    what: `the saga never runs ${nameOf(missing)}.`,
    expects: `${did}.toContain(${toSource(missing)});`,
  };
}

function repeated(
  baseline: Explored,
  { world }: Explored,
  options: CrashOptions,
): Violation | undefined {
  const before = new Map(baseline.world.ledger.effects.map((effect) => [effect.key, effect]));
  for (const effect of world.ledger.effects) {
    const known = before.get(effect.key);
    if (isHarmless(effect.id, options) || effect.runs <= (known?.runs ?? 1)) continue;
    const turns = new Set(effect.turns).size;
    if (turns > new Set(known?.turns).size && known !== undefined) {
      return {
        what: `${nameOf(effect.id)} runs again in turn ${effect.turns.at(-1)}, although the client has a later token.`,
        expects: `expect(new Set(${effectOf(effect.id)}?.turns).size).toBe(${new Set(known.turns).size});`,
      };
    }
    const careless = carelessly(effect);
    if (careless !== undefined) return careless;
  }
  return undefined;
}

/** Reports the first effect, not declared harmless, that repeated and never read its key. */
export function firstCareless(
  effects: readonly Effect[],
  options: Pick<ExploreOptions, 'harmless'>,
): Violation | undefined {
  return effects
    .filter(({ id }) => !isHarmless(id, options))
    .map(carelessly)
    .find(Boolean);
}

function carelessly({ id, took, standIn, runs }: Effect): Violation | undefined {
  if (took || standIn || runs < 2) return undefined;
  const undo = id.startsWith('~');
  const example = undo
    ? '({ result, idempotencyKey }) => bank.refund(result.id, idempotencyKey)'
    : '(step) => bank.charge(amount, step.idempotencyKey)';
  const once = undo
    ? ''
    : 'If the provider has no idempotency keys, use once: true, which needs a guard. ';
  return {
    what:
      `${nameOf(id)} happens ${runs} times, and its code never reads its idempotency key: the provider cannot recognize the ` +
      `repetition. Send idempotencyKey to the provider: ${example}. ${once}If the step only reads, or a repetition does no harm, ` +
      `pass { harmless: ['${id}'] }.`,
    expects: `expect(${effectOf(id)}).toMatchObject({ took: true });`,
  };
}

const effectOf = (id: string): string => `run.effects.find(({ id }) => id === ${toSource(id)})`;

/** Names a step or an undo in a sentence. */
export function nameOf(id: string): string {
  return id.startsWith('~') ? `the undo of '${id.slice(1)}'` : `'${id}'`;
}
