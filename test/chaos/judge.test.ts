import { describe, expect, it } from 'vitest';
import { judge, type CallReport, type DeliveryReport, type Evidence } from './judge.ts';
import type { EffectRow, Kind, UndoRow } from './provider/ledger.ts';

const effect = (purchase: string, kind: Kind, key = `${kind} of ${purchase}`): EffectRow => ({
  key,
  purchase,
  kind,
  asked: 1,
});

const undo = (purchase: string, kind: Kind, change: Partial<UndoRow> = {}): UndoRow => ({
  key: `undo ${kind} of ${purchase}`,
  effectKey: `${kind} of ${purchase}`,
  purchase,
  kind,
  asked: 1,
  ...change,
});

const call = (ending: CallReport['ending'], text: string): CallReport => ({
  dialect: 'push',
  ending,
  asked: [],
  refused: [],
  closed: [],
  text,
  isHonest: true,
  isNamed: false,
});

const delivery = (
  sagaId: string,
  status: DeliveryReport['status'],
  reason = '',
): DeliveryReport => ({ sagaId, status, reason });

const bought = (['charge', 'ship', 'thank'] as const).map((kind) => effect('buy:1', kind));
const failed = "The call was declined. Undone: 'charge' (charge buy:2).";
const uncompensated = "It failed. Not undone, and left as it is: 'charge' (charge buy:3).";

/**
 * Valid evidence: one completed purchase, one undone, one with uncompensated steps, and one that
 * the queue undoes.
 */
const sound: Evidence = {
  effects: [
    ...bought,
    effect('buy:2', 'charge'),
    effect('buy:3', 'charge'),
    effect('trip:4', 'room'),
    effect('errand:5', 'charge'),
    effect('errand:5', 'ship'),
    // The shipment lost the race against the timer.
    ...(['charge', 'ship', 'car'] as const).map((kind) => effect('errand:7', kind)),
    ...(['car', 'stamp', 'charge', 'thank'] as const).map((kind) => effect('dash:8', kind)),
  ],
  undos: [
    undo('buy:2', 'charge'),
    // Withdrawn before the effect ran.
    undo('buy:2', 'ship'),
    undo('trip:4', 'room'),
  ],
  uncompensated: [],
  notes: [],
  answers: [],
  settled: ['10'],
  stuck: [],
  early: { effects: [], undos: [] },
  calls: [
    call('completed', 'done buy:1: 3'),
    call('failed', failed),
    call('failed', uncompensated),
    call('completed', 'done errand:5'),
    { ...call('refused', 'Error: Invalid or expired sagaToken'), isHonest: false },
    call('vanished', ''),
  ],
  deliveries: [delivery('4', 'waiting'), delivery('5', 'outdated'), delivery('4', 'ended')],
};

const eightClosed = Array.from({ length: 8 }, (_, index): CallReport => ({
  ...call('vanished', ''),
  closed: [`buy:closed-${index}`],
}));

describe('the judge', () => {
  it('accepts closed connections of which one was noticed', () => {
    const effects = eightClosed.map(({ closed: [name = ''] }) => effect(name, 'charge'));
    const undos = [undo('buy:closed-3', 'charge')];
    const calls = [...sound.calls, ...eightClosed];
    expect(judge({ ...sound, calls, early: { effects, undos } })).toEqual([]);
  });

  it('accepts effects that completed, were undone, or are reported', () => {
    expect(judge(sound)).toEqual([]);
  });

  const without = (kind: Kind, purchase: string): readonly EffectRow[] =>
    sound.effects.filter((row) => row.kind !== kind || row.purchase !== purchase);

  it.each<[what: string, change: Partial<Evidence>, problem: string]>([
    [
      'a call that never ended',
      { calls: [...sound.calls, call('unfinished', 'timed out')] },
      'has not ended: timed out',
    ],
    [
      'an honest client that was refused',
      { calls: [...sound.calls, call('refused', 'used')] },
      'An honest call by push was refused: used',
    ],
    [
      'a step that was to be asked for once',
      {
        effects: [...sound.effects, { ...effect('dash:8', 'stamp', 'stamp of dash:8'), asked: 2 }],
      },
      'stamp was to be asked for once for dash:8, and was 2 times',
    ],
    [
      'what lost a race without a winner',
      {
        effects: without('car', 'errand:7').filter(
          ({ kind, purchase }) => kind !== 'charge' || purchase !== 'errand:7',
        ),
      },
      'errand:7 is half done: ship stands without charge',
    ],
    [
      'closed connections that no process noticed',
      {
        calls: [...sound.calls, ...eightClosed],
        early: {
          effects: eightClosed.map(({ closed: [name = ''] }) => effect(name, 'charge')),
          undos: [],
        },
      },
      '8 clients closed their connection at a question, and no process noticed it',
    ],
    [
      'a refusal of its user that did not count',
      { calls: [...sound.calls, { ...call('vanished', ''), refused: ['buy:1'] }] },
      'The user refused buy:1, and it was done',
    ],
    [
      'a refusal without a reason',
      { calls: [...sound.calls, { ...call('refused', ''), isHonest: false }] },
      'nobody says why',
    ],
    [
      'a call with a key that began two sagas',
      {
        calls: [
          ...sound.calls,
          { ...call('completed', 'done buy:1'), isNamed: true, asked: ['buy:2', 'buy:1', 'buy:1'] },
        ],
      },
      'with a key began buy:2, and then buy:1',
    ],
    [
      'a failure without a reason',
      { calls: [...sound.calls, call('failed', '')] },
      'nobody says why',
    ],
    [
      'an effect under two keys',
      { effects: [...sound.effects, effect('buy:1', 'charge', 'another')] },
      'charge happened twice for buy:1',
    ],
    [
      'an undo under two keys',
      { undos: [...sound.undos, undo('buy:2', 'charge', { key: 'another' })] },
      'charge was undone twice for buy:2',
    ],
    [
      'an undo of something else than happened',
      { undos: [...sound.undos, undo('buy:3', 'charge', { effectKey: 'another' })] },
      'names another charge than there was',
    ],
    [
      'what was shipped and given back',
      { undos: [...sound.undos, undo('errand:5', 'charge')], calls: [] },
      'errand:5 is half done: ship stands without charge',
    ],
    [
      'what was charged and left',
      { effects: [...sound.effects, effect('buy:6', 'charge')] },
      'buy:6 is half done: charge stands without ship, thank',
    ],
    [
      'what was shipped without a thank you',
      { effects: without('thank', 'buy:1'), calls: [] },
      'buy:1 is half done: charge, ship stands without thank',
    ],
    [
      'an uncompensated step that is not named any more',
      { calls: sound.calls.filter(({ text }) => text !== uncompensated) },
      'buy:3 is half done: charge',
    ],
    [
      'an uncompensated step that names something else',
      { calls: [call('failed', uncompensated.replace('charge buy', 'ship buy'))] },
      'buy:3 is half done: charge',
    ],
    [
      'an uncompensated step in what is said to be undone',
      { calls: [call('failed', uncompensated.replace('Not undone, and left as it is', 'Undone'))] },
      'charge for buy:3 is said to be undone, and stands',
    ],
    [
      'a result of a purchase that lacks something',
      {
        undos: [
          ...sound.undos,
          undo('buy:1', 'charge'),
          undo('buy:1', 'ship'),
          undo('buy:1', 'thank'),
        ],
      },
      'told that buy:1 is done, without charge, ship, thank',
    ],
    [
      'a result of a purchase that nobody knows',
      { calls: [call('completed', 'done buy:9: 1')] },
      'not in the ledger',
    ],
    [
      'an undo that a client was told of, and that was none',
      { undos: sound.undos.filter(({ purchase }) => purchase !== 'buy:2') },
      'charge for buy:2 is said to be undone, and stands',
    ],
    [
      'a saga that the queue ended, and did not undo',
      { undos: sound.undos.filter(({ purchase }) => purchase !== 'trip:4') },
      'trip:4 is half done: room stands',
    ],
    [
      'a saga that waits for a message that the queue does not have',
      { deliveries: [...sound.deliveries, delivery('6', 'ended'), delivery('6', 'waiting')] },
      'The saga 6 waits for a message',
    ],
    [
      'a message that its own host refuses',
      { deliveries: [...sound.deliveries, delivery('6', 'refused', 'expired')] },
      'A message of the saga 6 was refused: expired',
    ],
    [
      'something that is not sold',
      { effects: [...sound.effects, effect('loan:1', 'charge')] },
      'loan:1, which nobody sells',
    ],
    [
      'a charge that was denied and is neither undone nor named',
      { effects: [...sound.effects, effect('grant:10', 'charge')] },
      'grant:10 is half done: charge stands without thank',
    ],
    [
      'a saga without a client that has not ended',
      { effects: [...sound.effects, effect('bill:11', 'room'), effect('bill:11', 'thank')] },
      'bill:11 has not ended',
    ],
  ])('finds %s', (_, change, problem) => {
    expect(judge({ ...sound, ...change })).toContainEqual(expect.stringContaining(problem));
  });

  it('identifies a step without a label by the purchase in its text', () => {
    const effects = [...sound.effects, effect('errand:6', 'charge')];
    const text = "done errand:6. Not undone, and left as it is: 'charge'.";
    expect(judge({ ...sound, effects })).toHaveLength(1);
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', text)] })).toEqual([]);
    const lie = text.replace('Not undone, and left as it is', 'Undone');
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', lie)] })).toHaveLength(
      2,
    );
  });

  it('accepts a reported interrupted turn for all of its effects', () => {
    const effects = [...sound.effects, effect('buy:9', 'ship')];
    const text =
      "Undone: 'charge' (charge buy:9). More steps may have run in turn 3, which was interrupted.";
    expect(judge({ ...sound, effects })).toHaveLength(1);
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', text)] })).toEqual([]);
    expect(judge({ ...sound, effects, uncompensated: ['turn buy:9'] })).toEqual([]);
  });

  it('accepts effects that the operator was told of as uncompensated', () => {
    const effects = [...sound.effects, effect('trip:6', 'charge'), effect('trip:6', 'room')];
    const undos = [...sound.undos, undo('trip:6', 'room')];
    expect(judge({ ...sound, effects, undos })).toHaveLength(1);
    expect(judge({ ...sound, effects, undos, uncompensated: ['charge trip:6'] })).toEqual([]);
  });
});
