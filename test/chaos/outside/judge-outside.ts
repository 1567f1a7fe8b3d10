import type { EffectRow, UndoRow } from '../provider/ledger.ts';
import type { NoteRow } from '../provider/notes.ts';
import type { AnswerReport } from './people.ts';
import { escalateAfterMs, mostOutsideSkew, remindEvery } from './times.ts';

/** Evidence about sagas with answers from people and other systems. */
export interface OutsideEvidence {
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
  /** Deliveries and decisions of the sagas, as the provider recorded them. */
  readonly notes: readonly NoteRow[];
  /** Answers of people, with the responses. */
  readonly answers: readonly AnswerReport[];
  /** IDs of ended sagas. */
  readonly settled: readonly string[];
  /** IDs of sagas with messages that never complete. */
  readonly stuck: readonly string[];
}

/** Evidence about one saga. */
interface Case {
  readonly name: string;
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
  readonly notes: readonly NoteRow[];
  readonly answers: readonly AnswerReport[];
  readonly decision: NoteRow | undefined;
}

/**
 * Finds lost, duplicate, and ignored answers, duplicate reminders, and sagas that have not ended.
 */
export function judgeOutside(evidence: OutsideEvidence): readonly string[] {
  const settled = new Set(evidence.settled);
  const cases = casesOf(evidence);
  return [
    ...evidence.stuck.map((sagaId) => `The queue still has a message of the saga ${sagaId}.`),
    ...cases
      .filter(({ name }) => !settled.has(name.split(':')[1] ?? ''))
      .map(({ name }) => `The saga of ${name} has not ended.`),
    ...cases.flatMap((found) => [
      ...sentTwice(found),
      ...wrongTimes(found),
      ...toldTwo(found),
      ...lost(found),
      ...forged(found),
      ...contradicted(found),
    ]),
  ];
}

function casesOf({ effects, undos, notes, answers }: OutsideEvidence): readonly Case[] {
  const isOutside = (name: string): boolean => /^(?:grant|bill):/.test(name);
  const names = new Set(
    [...effects, ...undos, ...notes].map(({ purchase }) => purchase).filter(isOutside),
  );
  const of = <T extends { readonly purchase: string }>(
    list: readonly T[],
  ): ReadonlyMap<string, T[]> => grouped(list, ({ purchase }) => purchase);
  const [done, undone, sent, given] = [of(effects), of(undos), of(notes), of(answers)];
  return [...names].map((name) => ({
    name,
    effects: done.get(name) ?? [],
    undos: undone.get(name) ?? [],
    notes: sent.get(name) ?? [],
    answers: given.get(name) ?? [],
    decision: sent.get(name)?.find(({ kind }) => kind === 'decision'),
  }));
}

/** Finds links and decisions with more than one key. */
function sentTwice({ name, notes }: Case): readonly string[] {
  const once = notes.filter(({ kind }) => kind !== 'reminder');
  const counts = grouped(once, ({ kind, to = 'nobody' }) => `${kind} for ${to}`);
  return [...counts]
    .filter(([, { length }]) => length > 1)
    .map(([what, { length }]) => `${name} has ${length} of one ${what}.`);
}

/**
 * Finds early reminders and escalations. Missed reminders are sent as one, so reminder n is due
 * after n intervals or later. An earlier reminder is a duplicate.
 */
function wrongTimes({ name, notes }: Case): readonly string[] {
  const slack = 2 * mostOutsideSkew;
  const reminders = grouped(
    notes.filter(({ kind }) => kind === 'reminder'),
    ({ to = '' }) => to,
  );
  const repeated = [...reminders].flatMap(([to, list]) => {
    const sorted = list.toSorted((one, other) => one.at - other.at);
    const first = to === 'dora' ? escalateAfterMs : 0;
    const early = sorted.filter(({ at, began }, index) => {
      const number = Math.floor(first / remindEvery) + index + 1;
      return at < began + number * remindEvery - slack;
    });
    return early.map(() => `${name} reminded ${to} twice for one time.`);
  });
  const escalated = notes.filter(
    ({ kind, to, at, began }) =>
      kind === 'link' && to === 'dora' && at < began + escalateAfterMs - slack,
  );
  return [...repeated, ...escalated.map(() => `${name} was escalated before its time.`)];
}

/** Finds people who got two different answers as responses. */
function toldTwo({ name, answers }: Case): readonly string[] {
  const people = grouped(answers, ({ person }) => person);
  return [...people].flatMap(([person, list]) => {
    const told = new Set(list.map((one) => one.told));
    return told.has('approved') && told.has('denied')
      ? [`${person} was told of two answers to ${name}.`]
      : [];
  });
}

/** Recorded answers that the decision ignores. */
function lost({ name, answers, decision }: Case): readonly string[] {
  const toldTo = (told: AnswerReport['told']): ReadonlySet<string> =>
    new Set(answers.filter((one) => one.told === told).map(({ person }) => person));
  const approvals = toldTo('approved');
  if (decision?.result === 'timeout') {
    const isEnough = approvals.size >= 2 || toldTo('denied').size > 0 || toldTo('paid').size > 0;
    return isEnough ? [`Answers to ${name} were recorded, and lost.`] : [];
  }
  if (decision?.result !== 'approved') return [];
  const counted = answers.filter(
    ({ person, wanted }) => wanted === 'approve' && decision.by?.includes(person) === true,
  );
  // The last counted approval began after a response showed a recorded denial.
  const lastBegan = Math.max(
    ...[...grouped(counted, ({ person }) => person).values()].map((list) =>
      Math.min(...list.map(({ from }) => from)),
    ),
  );
  const overruled = answers.filter(({ told, to }) => told === 'denied' && to < lastBegan);
  return overruled.map(
    ({ person }) => `The denial of ${person} to ${name} was recorded, and lost.`,
  );
}

/** Finds decisions without matching answers. */
function forged({ name, answers, decision }: Case): readonly string[] {
  if (decision === undefined) return [];
  const { by = [], result } = decision;
  const problems: string[] = [];
  if (new Set(by).size < by.length) problems.push(`${name} counts somebody twice.`);
  if (name.startsWith('grant') && result === 'approved' && new Set(by).size < 2)
    problems.push(`${name} was approved by one.`);
  for (const person of by) {
    const own = answers.filter(
      (one) => one.person === person && (one.wanted !== 'pay' || one.told !== 'refused'),
    );
    const wanted = new Set(own.map((one) => one.wanted));
    if (own.length === 0) problems.push(`${name} counts ${person}, who did not answer.`);
    else if (own.every(({ told }) => told === 'nothing recorded'))
      problems.push(`${name} counts ${person}, who was told that nothing is recorded.`);
    if (result === 'approved' && !wanted.has('approve') && !wanted.has('pay') && own.length > 0)
      problems.push(`${name} was approved by ${person}, who only denied.`);
  }
  if (
    result === 'denied' &&
    !answers.some(({ wanted, person }) => wanted === 'deny' && by.includes(person))
  )
    problems.push(`${name} was denied by nobody.`);
  return problems;
}

/** Finds effects that contradict the decision. The judge of all sagas finds unreported effects. */
function contradicted({ name, effects, undos, decision }: Case): readonly string[] {
  const isThanked = effects.some(({ kind }) => kind === 'thank');
  if (decision === undefined) return isThanked ? [`${name} went on without a decision.`] : [];
  if (decision.result !== 'approved')
    return isThanked ? [`${name} was ${decision.result}, and went on.`] : [];
  return undos.length > 0 ? [`${name} was approved, and undone.`] : [];
}

function grouped<T>(list: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
