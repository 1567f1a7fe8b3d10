import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { continueAs, elicit, saga, sleep, step, type Program } from '@mcp-saga/server';
import { replayRecording, testSaga, type Recording } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { order } from './sagas/order.ts';
import * as parcels from './sagas/parcel.ts';
import { quotes } from './sagas/quotes.ts';
import { shop } from './sagas/shop.ts';

const { parcel } = parcels;

const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => shop.reset());

async function thrownBy(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'replay_mismatch' });
  return (error as Error).message;
}

describe('a recording', () => {
  it('is a file that reads well, and holds no key and no token', async () => {
    const run = await testSaga(order, { input: { cents: 900 } })
      .on.elicit('sure', { sure: true })
      .fail.step('ship', new Error('no truck'))
      .run();
    const file = join(folder, 'read', 'order.json');
    await run.save(file);
    const text = readFileSync(file, 'utf8');
    expect(text.replaceAll(/-?\d{5,}/g, '…')).toMatchInlineSnapshot(`
      "{
        "recording": 1,
        "saga": "order",
        "version": "1",
        "engine": 2,
        "input": { "cents": 900 },
        "happened": [
          { "turn": 2, "kind": "step", "id": "charge", "outcome": "done", "value": { "id": "do:charge" }, "letter": "s", "fingerprint": 0 },
          { "turn": 3, "kind": "elicit", "id": "sure", "outcome": "accepted", "asked": "Ship it?", "value": { "sure": true }, "by": "client", "letter": "e", "fingerprint": … },
          { "turn": 3, "kind": "step", "id": "ship", "outcome": "failed", "value": { "name": "Error", "message": "no truck" }, "letter": "f", "fingerprint": 0 },
          { "turn": 3, "kind": "step", "id": "~charge", "outcome": "done", "letter": "v", "fingerprint": 0 }
        ],
        "end": { "status": "failed", "error": { "name": "Error", "message": "no truck" }, "compensated": ["charge"], "residue": [] }
      }
      "
    `);
    expect(JSON.parse(text)).toEqual(run.recording);
    for (const { token } of run.points) expect(text).not.toContain(token);
  });

  it.each<[string, Program, () => Promise<{ readonly recording: Recording }>]>([
    ['that completed', parcel, () => testSaga(parcel).on.elicit('sure', { sure: true }).run()],
    ['that was refused', parcel, () => testSaga(parcel).refuse.elicit('sure').run()],
    [
      'that was undone',
      order,
      () =>
        testSaga(order, { input: { cents: 1 } })
          .on.elicit('sure', { sure: false })
          .run(),
    ],
    [
      'that was cancelled',
      order,
      () =>
        testSaga(order, { input: { cents: 1 } })
          .cancel.at('sure', 'too late')
          .run(),
    ],
    [
      'whose undo failed',
      order,
      () =>
        testSaga(order, { input: { cents: 1 } })
          .refuse.elicit('sure')
          .fail.undo('charge', new Error('down'))
          .run(),
    ],
    [
      'that died on the way',
      order,
      () =>
        testSaga(order, { input: { cents: 1 } })
          .on.elicit('sure', { sure: true })
          .crash.after('ship')
          .run(),
    ],
    [
      'of parallel steps, in the order in which they ended',
      quotes,
      () =>
        testSaga(quotes)
          .on.step('fast', async ({ sleep: nap }) => {
            await nap(1_000);
            return 5;
          })
          .on.elicit('carrier', { carrier: 'x' })
          .run(),
    ],
  ])('[R3] of a saga %s replays on the same code', async (_, program, run) => {
    const { recording } = await run();
    const kept = JSON.parse(JSON.stringify(recording)) as unknown;
    await expect(replayRecording(kept, [program])).resolves.toBeUndefined();
  });

  it('[R2] keeps what JSON lacks', async () => {
    const dates = saga({ name: 'dates', version: '1' }, function* () {
      const { at, big } = yield* step('read', async () => ({ at: new Date(0), big: 9n, none: undefined }));
      return `${at.toISOString()} ${big}`;
    });
    const { recording } = await testSaga(dates).run();
    await replayRecording(JSON.parse(JSON.stringify(recording)), [dates]);
    expect(recording.happened[0]?.value).toEqual({
      at: { $: ['d', 0] },
      big: { $: ['b', '9'] },
      none: { $: 'u' },
    });
  });

  it('says how long a saga waited', async () => {
    const napping = saga({ name: 'napping', version: '1' }, function* () {
      yield* sleep(60_000);
      return yield* step('ring', async () => 'ring');
    });
    const { recording } = await testSaga(napping).run();
    expect(recording.happened.at(-1)).toMatchObject({ id: 'ring', waited: 60_000 });
    await replayRecording(recording, [napping]);
  });

  it('of a saga that starts over holds what it went on as', async () => {
    const count: Program = saga(
      { name: 'count', version: '1', input: z.object({ n: z.number() }) },
      function* ({ n }) {
        yield* elicit('more', { message: `More than ${n}?`, schema: z.object({}) });
        if (n < 2) return yield* continueAs(count as never, { n: n + 1 });
        return `${n}`;
      },
    );
    const { recording } = await testSaga(count, { input: { n: 0 } })
      .on.elicit('more', {})
      .run();
    expect(recording).toMatchObject({
      end: { status: 'continued', saga: 'count' },
      next: { input: { n: 1 }, next: { input: { n: 2 }, end: { result: '2' } } },
    });
    await replayRecording(recording, [count]);
  });
});

describe('the gate before a deploy', () => {
  const recorded = async (): Promise<Recording> =>
    (await testSaga(parcel).on.elicit('sure', { sure: true }).run()).recording;

  it('[R3] shows a renamed step beside what was recorded', async () => {
    expect(await thrownBy(replayRecording(await recorded(), [parcels.renamed]))).toMatchInlineSnapshot(`
      "The code of today no longer does what the recording of 'parcel' says.

          recorded                     | now
          pack done: "box-1"           | pack done: "box-1"
          sure accepted: {"sure":true} | sure accepted: {"sure":true}
        > ship done: "on its way"      | runs deliver
          completed: "sent"            |

      Sagas of version '1' that have come this far cannot go on with it. Give the changed saga a version of its own and keep this one in \`previous\`, or put what is new behind \`if (yield* patched(…))\`."
    `);
  });

  it('[R3] shows a question that says something else', async () => {
    expect(await thrownBy(replayRecording(await recorded(), [parcels.reworded]))).toMatchInlineSnapshot(`
      "The code of today no longer does what the recording of 'parcel' says.

          recorded                | now
          pack done: "box-1"      | pack done: "box-1"
        > asks sure: Send it?     | asks sure: Really send it, for 9 EUR?
          ship done: "on its way" |
          completed: "sent"       |

      Sagas of version '1' that have come this far cannot go on with it. Give the changed saga a version of its own and keep this one in \`previous\`, or put what is new behind \`if (yield* patched(…))\`."
    `);
  });

  it('shows a step too many, one too few, and another end', async () => {
    expect(await thrownBy(replayRecording(await recorded(), [parcels.longer]))).toContain(
      '> completed: "sent"            | runs mail',
    );
    expect(await thrownBy(replayRecording(await recorded(), [parcels.shorter]))).toContain(
      '> ship done: "on its way"      | completed: "sent"',
    );
    expect(await thrownBy(replayRecording(await recorded(), [parcels.otherwise]))).toContain(
      '> completed: "sent"            | completed: "shipped"',
    );
    await replayRecording(await recorded(), [parcels.otherwise], { ends: 'ignore' });
  });

  it('[R5] lets a patch and a version of its own pass, and not a version that is gone', async () => {
    await replayRecording(await recorded(), [parcels.patchedParcel]);
    await replayRecording(await recorded(), [parcels.versioned]);
    expect(await thrownBy(replayRecording(await recorded(), [parcels.dropped]))).toContain(
      "is of version '1' of 'parcel', which is not served any more: served are '2'.",
    );
  });

  it('runs nothing, not even undos', async () => {
    const run = await testSaga(order, { input: { cents: 9 } })
      .on.elicit('sure', { sure: false })
      .run();
    shop.reset();
    await replayRecording(run.recording, [order]);
    const changed = { ...run.recording, happened: run.recording.happened.slice(0, 1) };
    expect(await thrownBy(replayRecording(changed, [order]))).toContain('asks sure: Ship it?');
    expect(shop.charges.size).toBe(0);
  });

  it('is a test for each file, and is not open where there is none', async () => {
    const run = await testSaga(parcel).on.elicit('sure', { sure: true }).run();
    await run.save(join(folder, 'gate/one.json'));
    await run.save(join(folder, 'gate/more/two.json'));
    writeFileSync(join(folder, 'gate/more/bad.json'), '{}');
    const sagas = [parcel];
    const all = replayRecordings(join(folder, 'gate/**/*.json'), { sagas });
    expect(all.map(({ file }) => file.replace(/^.*gate/, ''))).toEqual([
      '/more/bad.json',
      '/more/two.json',
      '/one.json',
    ]);
    await Promise.all(all.slice(1).map(({ replay }) => replay()));
    await expect(all[0]?.replay()).rejects.toThrow('This is no recording of a saga.');
    expect(replayRecordings(join(folder, 'gate/*.json'), { sagas })).toHaveLength(1);
    expect(replayRecordings(join(folder, 'gate/one.json'), { sagas })).toHaveLength(1);
    expect(replayRecordings(join(folder, 'gate'), { sagas })).toHaveLength(3);
    expect(() => replayRecordings(join(folder, 'nowhere/*.json'), { sagas })).toThrow(
      'No recordings are found',
    );
  });
});
