import { describe, expect, it } from 'vitest';
import type { EffectRow, Kind } from '../provider/ledger.ts';
import type { NoteRow } from '../provider/notes.ts';
import { judgeOutside, type OutsideEvidence } from './judge-outside.ts';
import type { AnswerReport } from './people.ts';
import { escalateAfterMs, remindEvery } from './times.ts';

const began = 1_000_000;
let ids = 0;

const effect = (purchase: string, kind: Kind): EffectRow => ({
  key: `${kind} of ${purchase}`,
  purchase,
  kind,
  asked: 1,
});

const note = (purchase: string, kind: NoteRow['kind'], change: Partial<NoteRow> = {}): NoteRow => {
  ids += 1;
  return { id: ids, asked: 1, key: `${kind} ${ids}`, purchase, kind, began, at: began, ...change };
};

const decision = (purchase: string, result: NoteRow['result'], ...by: readonly string[]): NoteRow =>
  note(purchase, 'decision', { ...(result !== undefined && { result }), by });

const answer = (
  purchase: string,
  person: string,
  wanted: AnswerReport['wanted'],
  told: AnswerReport['told'],
  from = 0,
): AnswerReport => ({ purchase, person, wanted, told, status: 200, from, to: from + 10 });

/** Valid evidence. */
const sound: OutsideEvidence = {
  effects: [
    effect('grant:1', 'charge'),
    effect('grant:1', 'thank'),
    effect('grant:2', 'charge'),
    effect('bill:3', 'room'),
    effect('bill:3', 'thank'),
    effect('bill:4', 'room'),
    effect('grant:5', 'charge'),
    effect('buy:9', 'charge'),
  ],
  undos: ['grant:2', 'bill:4', 'grant:5'].map((purchase) => ({
    ...effect(purchase, 'charge'),
    effectKey: `charge of ${purchase}`,
  })),
  notes: [
    note('grant:1', 'link', { to: 'ann' }),
    note('grant:1', 'link', { to: 'bob' }),
    note('grant:1', 'reminder', { to: 'ann', at: began + remindEvery }),
    note('grant:1', 'reminder', { to: 'ann', at: began + 2 * remindEvery + 50 }),
    note('grant:1', 'link', { to: 'dora', at: began + escalateAfterMs }),
    decision('grant:1', 'approved', 'ann', 'bob'),
    decision('grant:2', 'denied', 'eve'),
    note('bill:3', 'webhook', { to: 'bank' }),
    decision('bill:3', 'approved', 'bank'),
    decision('bill:4', 'timeout'),
  ],
  answers: [
    answer('grant:1', 'ann', 'approve', 'approved', 100),
    answer('grant:1', 'bob', 'approve', 'approved', 200),
    // Recorded after the second approval.
    answer('grant:1', 'eve', 'deny', 'denied', 205),
    answer('grant:2', 'eve', 'deny', 'denied'),
    answer('bill:3', 'bank', 'pay', 'refused'),
    answer('bill:3', 'bank', 'pay', 'paid'),
    answer('bill:4', 'bank', 'pay', 'nothing recorded'),
  ],
  settled: ['1', '2', '3', '4', '5'],
  stuck: [],
};

describe('the judge of answers from outside', () => {
  it('accepts approvals, denials, payments, and waits that ended', () => {
    expect(judgeOutside(sound)).toEqual([]);
  });

  const withNotes = (...notes: readonly NoteRow[]): Partial<OutsideEvidence> => ({
    notes: [...sound.notes, ...notes],
  });
  const withAnswers = (...answers: readonly AnswerReport[]): Partial<OutsideEvidence> => ({
    answers: [...sound.answers, ...answers],
  });
  const decided = (purchase: string, ...others: readonly NoteRow[]): Partial<OutsideEvidence> => ({
    notes: [
      ...sound.notes.filter((one) => one.kind !== 'decision' || one.purchase !== purchase),
      ...others,
    ],
  });

  it.each<[what: string, change: Partial<OutsideEvidence>, problem: string]>([
    ['a saga that has not ended', { settled: ['1', '2', '3', '4'] }, 'grant:5 has not ended'],
    ['a message that is never done', { stuck: ['5'] }, 'still has a message of the saga 5'],
    [
      'a link under two keys',
      withNotes(note('grant:1', 'link', { to: 'ann' })),
      'grant:1 has 2 of one link for ann',
    ],
    [
      'a webhook under two keys',
      withNotes(note('bill:3', 'webhook', { to: 'bank' })),
      'bill:3 has 2 of one webhook for bank',
    ],
    [
      'two decisions',
      withNotes(decision('grant:1', 'approved', 'ann', 'bob')),
      'grant:1 has 2 of one decision for nobody',
    ],
    [
      'two reminders for one time',
      withNotes(note('grant:1', 'reminder', { to: 'ann', at: began + 2 * remindEvery + 60 })),
      'grant:1 reminded ann twice for one time',
    ],
    [
      'a reminder of a director before its time',
      withNotes(note('grant:1', 'reminder', { to: 'dora', at: began + escalateAfterMs - 600 })),
      'grant:1 reminded dora twice for one time',
    ],
    [
      'an escalation before its time',
      withNotes(note('grant:2', 'link', { to: 'dora', at: began + escalateAfterMs - 600 })),
      'grant:2 was escalated before its time',
    ],
    [
      'a person who was told of two answers',
      withAnswers(answer('grant:1', 'ann', 'deny', 'denied', 300)),
      'ann was told of two answers to grant:1',
    ],
    [
      'lost approvals',
      decided('grant:1', decision('grant:1', 'timeout')),
      'Answers to grant:1 were recorded, and lost',
    ],
    [
      'a lost denial',
      decided('grant:2', decision('grant:2', 'timeout')),
      'Answers to grant:2 were recorded, and lost',
    ],
    [
      'a lost payment',
      decided('bill:3', decision('bill:3', 'timeout')),
      'Answers to bill:3 were recorded, and lost',
    ],
    [
      'a denial that came before the last approval',
      withAnswers(answer('grant:1', 'eve', 'deny', 'denied', 50)),
      'The denial of eve to grant:1 was recorded, and lost',
    ],
    [
      'a person who counts twice',
      decided('grant:1', decision('grant:1', 'approved', 'ann', 'ann')),
      'grant:1 counts somebody twice',
    ],
    [
      'an approval by one',
      decided('grant:1', decision('grant:1', 'approved', 'ann')),
      'grant:1 was approved by one',
    ],
    [
      'a person who did not answer',
      decided('grant:1', decision('grant:1', 'approved', 'ann', 'dora')),
      'grant:1 counts dora, who did not answer',
    ],
    [
      'a refused event that counts',
      { answers: sound.answers.filter(({ told }) => told !== 'paid') },
      'bill:3 counts bank, who did not answer',
    ],
    [
      'an answer that counts although nothing was recorded',
      decided('bill:4', decision('bill:4', 'approved', 'bank')),
      'bill:4 counts bank, who was told that nothing is recorded',
    ],
    [
      'an approval by a person who denied',
      decided('grant:1', decision('grant:1', 'approved', 'ann', 'eve')),
      'grant:1 was approved by eve, who only denied',
    ],
    [
      'a denial by nobody',
      decided('grant:2', decision('grant:2', 'denied')),
      'grant:2 was denied by nobody',
    ],
    ['effects behind no decision', decided('grant:1'), 'grant:1 went on without a decision'],
    [
      'effects behind a denial',
      { effects: [...sound.effects, effect('grant:2', 'thank')] },
      'grant:2 was denied, and went on',
    ],
    [
      'an undo behind an approval',
      {
        undos: [...sound.undos, { ...effect('grant:1', 'charge'), effectKey: 'charge of grant:1' }],
      },
      'grant:1 was approved, and undone',
    ],
  ])('finds %s', (_, change, problem) => {
    expect(judgeOutside({ ...sound, ...change })).toContainEqual(expect.stringContaining(problem));
  });
});
