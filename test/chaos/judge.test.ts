import { describe, expect, it } from 'vitest';
import { judge, type CallReport, type CancelReport, type Evidence } from './judge.ts';
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
  text,
  isHonest: true,
});

const cancel = (change: Partial<CancelReport> = {}): CancelReport => ({
  sagaId: 's',
  status: 'failed',
  compensated: [],
  residue: [],
  ...change,
});

const bought = (['charge', 'ship', 'thank'] as const).map((kind) => effect('buy:1', kind));
const failed = "The call was declined. Undone: 'charge' (charge buy:2).";
const residue = "It failed. Not undone, and left as it is: 'charge' (charge buy:3).";

/** Everything as it should be: one bought, one undone, one that names what it left, one left to the queue. */
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
    // Withdrawn before it happened.
    undo('buy:2', 'ship'),
    undo('trip:4', 'room'),
  ],
  residue: [],
  calls: [
    call('completed', 'done buy:1: 3'),
    call('failed', failed),
    call('failed', residue),
    call('completed', 'done errand:5'),
    { ...call('refused', 'Error: Invalid or expired sagaToken'), isHonest: false },
    call('vanished', ''),
  ],
  cancelled: [cancel({ compensated: ['room trip:4'] }), cancel({ status: 'refused' })],
};

describe('the judge', () => {
  it('finds nothing wrong where everything has ended, or was undone, or is named', () => {
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
      { effects: [...sound.effects, { ...effect('dash:8', 'stamp', 'stamp of dash:8'), asked: 2 }] },
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
      'a refusal without a reason',
      { calls: [...sound.calls, { ...call('refused', ''), isHonest: false }] },
      'nobody says why',
    ],
    ['a failure without a reason', { calls: [...sound.calls, call('failed', '')] }, 'nobody says why'],
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
      'a residue that is not named any more',
      { calls: sound.calls.filter(({ text }) => text !== residue) },
      'buy:3 is half done: charge',
    ],
    [
      'a residue that names something else',
      { calls: [call('failed', residue.replace('charge buy', 'ship buy'))] },
      'buy:3 is half done: charge',
    ],
    [
      'a residue in what is said to be undone',
      { calls: [call('failed', residue.replace('Not undone, and left as it is', 'Undone'))] },
      'charge for buy:3 is said to be undone, and stands',
    ],
    [
      'a result of a purchase that lacks something',
      { undos: [...sound.undos, undo('buy:1', 'charge'), undo('buy:1', 'ship'), undo('buy:1', 'thank')] },
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
      'an undo that the queue was told of, and that was none',
      { undos: sound.undos.filter(({ purchase }) => purchase !== 'trip:4') },
      'room for trip:4 is said to be undone, and stands',
    ],
    [
      'something that is not sold',
      { effects: [...sound.effects, effect('gift:1', 'charge')] },
      'gift:1, which nobody sells',
    ],
  ])('finds %s', (_, change, problem) => {
    expect(judge({ ...sound, ...change })).toContainEqual(expect.stringContaining(problem));
  });

  it('knows a step without a label by the purchase that the text speaks of', () => {
    const effects = [...sound.effects, effect('errand:6', 'charge')];
    const text = "done errand:6. Not undone, and left as it is: 'charge'.";
    expect(judge({ ...sound, effects })).toHaveLength(1);
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', text)] })).toEqual([]);
    const lie = text.replace('Not undone, and left as it is', 'Undone');
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', lie)] })).toHaveLength(2);
  });

  it('accepts an interrupted turn as the name of all that it may have done', () => {
    const effects = [...sound.effects, effect('buy:9', 'ship')];
    const text = "Undone: 'charge' (charge buy:9). Not undone, and left as it is: 'turn 3'.";
    expect(judge({ ...sound, effects })).toHaveLength(1);
    expect(judge({ ...sound, effects, calls: [...sound.calls, call('failed', text)] })).toEqual([]);
    expect(judge({ ...sound, effects, residue: ['turn buy:9'] })).toEqual([]);
  });

  it('takes the word of the queue for what could not be undone', () => {
    const effects = [...sound.effects, effect('trip:6', 'charge'), effect('trip:6', 'room')];
    const undos = [...sound.undos, undo('trip:6', 'room')];
    const cancelled = [...sound.cancelled, cancel({ residue: ['charge trip:6'] })];
    expect(judge({ ...sound, effects, undos })).toHaveLength(1);
    expect(judge({ ...sound, effects, undos, cancelled })).toEqual([]);
    expect(judge({ ...sound, effects, undos, residue: ['charge trip:6'] })).toEqual([]);
  });
});
