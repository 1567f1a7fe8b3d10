import type { NamesOf } from '@mcp-saga/server/internal';
import { show } from '../values/show.ts';
import type { Effect } from '../world/world-effects.ts';
import type { World } from '../world/world.ts';
import type { Rule } from '../script/script-rules.ts';
import { isSameValue } from '../values/same-value.ts';
import { toSource } from '../script/script-source.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { assertCases, baselineOf, programmingError } from './baseline.ts';
import {
  exploreNames,
  findingsIn,
  isHarmless,
  mayBeginAgain,
  judging,
  reported,
  scriptOf,
  unlessHarmless,
} from './exploration.ts';
import type {
  Case,
  Explored,
  ExploreOptions,
  ExploreReport,
  Find,
  Finding,
  Violation,
} from './exploration.ts';
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
 * A first run dies at each place in turn. Only if this run fails or misses a place, each place gets
 * a separate run.
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
  assertCases(
    'crashEverywhere',
    cases,
    "no step succeeds after the first request, and a first request that dies starts another saga. Leave out afterCrash: 'fail', " +
      'give the step an undo, or give the script the answers with which a step succeeds later.',
  );
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
  const swept = single ? undefined : await sweep(test, baseline, find);
  if (swept?.missesNothing === true && swept.finding === undefined) return { cases: cases.length };
  const findings = await findingsIn(cases, find);
  const found = findings.length === 0 && swept?.finding ? [swept.finding] : findings;
  return await reported(found, cases.length, find);
}

function casesOf(script: TestSaga, { world }: Explored): readonly Case[] {
  const crashes = world.deaths.map((rule): Case => {
    const { id, when, run } = rule;
    const nth = world.runs.get(id) === 1 ? '' : `, run ${run}`;
    return {
      when: `When the process dies ${when} ${nameOf(id)}${nth}`,
      script,
      fault: [rule],
    };
  });
  const losses = lossesOf(world).map((rule): Case => ({
    when: `When the response of turn ${rule.turn} is lost`,
    script,
    fault: [rule],
  }));
  return [...crashes, ...losses];
}

type Loss = Extract<Rule, { readonly kind: 'loseResponse' }>;

function lossesOf({ responses }: World): readonly Loss[] {
  return responses.map((turn): Loss => ({ kind: 'loseResponse', turn }));
}

/**
 * Runs a script once, dies at every place, and loses every response. Each death makes code run
 * again, so only the run itself finds the numbers of the deadly runs. `missesNothing`: the run died
 * at each place of the undisturbed run.
 */
async function sweep(
  test: TestSaga,
  { world: before }: Explored,
  find: Find,
): Promise<{ readonly missesNothing: boolean; readonly finding: Finding | undefined }> {
  const losses = lossesOf(before);
  const deaths: Rule[] = [];
  let places: ReadonlySet<string> = new Set();
  const swept: Case = {
    when: 'When the process dies at one place after the other',
    script: test.with(...losses),
    fault: losses,
    sweeps: (world) => {
      places = world.places;
      world.diesOnce = (rule) => void deaths.push(rule);
    },
  };
  const finding = await find(swept);
  const fault = [...deaths, ...losses];
  return {
    missesNothing: [...before.places].every((place) => places.has(place)),
    finding: finding && {
      ...finding,
      case: { ...swept, script: test.with(...fault), fault, sweeps: () => undefined },
    },
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

/**
 * `true` for a step with a failure after a crash, and for the turn of the crash. If the saga names
 * this turn, also for a step that only the dead request may have run: a machine left its state
 * before the repeated request ran it.
 */
function isUnknown(id: string, { trace }: Explored['world']): boolean {
  const died = trace.findIndex(({ type }) => type === 'crashed' || type === 'lost');
  if (died === -1) return false;
  if (/^turn \d+$/.test(id)) return true;
  const after = trace.slice(died);
  if (after.some(({ ...entry }) => entry.type === 'failed' && entry.id === id)) return true;
  const namesTurn = after.some(
    ({ ...entry }) => entry.type === 'uncompensated' && /^turn \d+$/.test(entry.id),
  );
  return namesTurn && !after.some(({ ...entry }) => entry.type === 'ran' && entry.id === id);
}

function repeatedBeforeToken(
  baseline: Explored,
  { world }: Explored,
  options: CrashOptions,
): Violation | undefined {
  if (options.firstRequest === 'accept') return undefined;
  const first = world.ledger.effects.find(
    ({ id, key }) => world.isAbandoned(key) && !mayBeginAgain(id, options, world),
  );
  if (first === undefined) return undefined;
  const undisturbed = baseline.world.ledger.effects;
  const times = undisturbed.filter(({ id }) => id === first.id).length;
  // A key of the step may vary, as with yield* uuid().
  const hasSameId = world.ledger.effects.filter(({ id }) => id === first.id).length > times;
  const expects = hasSameId
    ? `expect(run.effects.filter(({ id }) => id === ${toSource(first.id)})).toHaveLength(${times});`
    : `expect(run.effects).toHaveLength(${undisturbed.length});`;
  return {
    what:
      `${nameOf(first.id)} happens twice. The step runs in the first request, before the client has a token: the client can only ` +
      'start a new saga, with new idempotency keys. Give the step an undo or `once: true`, which make it wait for a token, or ' +
      `put a question or checkpoint() before the step. ${unlessHarmless(first.id, 'a second effect')}, ` +
      "or { firstRequest: 'accept' } for all first steps.",
    expects,
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
  const before = baseline.world.ledger.byKey;
  for (const effect of world.ledger.effects) {
    const known = before.get(effect.key);
    if (isHarmless(effect.id, options, world) || effect.runs <= (known?.runs ?? 1)) continue;
    const turns = new Set(effect.turns).size;
    if (turns > new Set(known?.turns).size && known !== undefined) {
      return {
        what: `${nameOf(effect.id)} runs again in turn ${effect.turns.at(-1)}, although the client has a later token.`,
        expects: `expect(new Set(${effectOf(effect.id)}?.turns).size).toBe(${new Set(known.turns).size});`,
      };
    }
    const careless = carelessly(effect, world);
    if (careless !== undefined) return careless;
  }
  return undefined;
}

/**
 * Reports the first effect that repeated and never read its key. Steps that only read, or were
 * declared harmless, may.
 */
export function firstCareless(
  world: World,
  options: Pick<ExploreOptions, 'harmless'>,
  effects: readonly Effect[] = world.ledger.effects,
): Violation | undefined {
  return effects
    .filter(({ id }) => !isHarmless(id, options, world))
    .map((effect) => carelessly(effect, world))
    .find(Boolean);
}

function carelessly(
  { id, took, standIn, runs }: Effect,
  { deliveries }: Pick<World, 'deliveries'>,
): Violation | undefined {
  if (runs < 2 || took || standIn) return undefined;
  const undo = id.startsWith('~');
  const delivery = deliveries.has(id);
  const example = undo
    ? '({ result, idempotencyKey }) => bank.refund(result.id, idempotencyKey)'
    : delivery
      ? 'deliver: ({ url, idempotencyKey }) => mail.send(url, idempotencyKey)'
      : '(step) => bank.charge(amount, step.idempotencyKey)';
  const otherwise =
    undo || delivery
      ? `If a repetition does no harm, pass { harmless: ['${id}'] }`
      : `If the provider has no idempotency keys, use once: true, which needs a store. ${unlessHarmless(id, 'a repetition')}`;
  return {
    what:
      `${nameOf(id)} happens ${runs} times, and its code never reads its idempotency key: the provider cannot recognize the ` +
      `repetition. Send idempotencyKey to the provider: ${example}. ${otherwise}.`,
    expects: `expect(${effectOf(id)}).toMatchObject({ took: true });`,
  };
}

const effectOf = (id: string): string => `run.effects.find(({ id }) => id === ${toSource(id)})`;

/** Names a step or an undo in a sentence. */
export function nameOf(id: string): string {
  return id.startsWith('~') ? `the undo of '${id.slice(1)}'` : `'${id}'`;
}
