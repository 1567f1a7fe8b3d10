import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { continueAs, elicit, saga, sleep, step, type Program } from '@mcp-saga/server';
import { replayRecording, testSaga, type Recording } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
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
  it('is a readable file without keys and tokens', async () => {
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
        "input": { "cents": 900 },
        "happened": [
          { "turn": 2, "kind": "step", "id": "charge", "outcome": "done", "value": { "id": "do:charge" }, "letter": "s", "fingerprint": 0 },
          { "turn": 3, "kind": "elicit", "id": "sure", "outcome": "accepted", "asked": "Ship it?", "value": { "sure": true }, "by": "client", "letter": "e", "fingerprint": … },
          { "turn": 3, "kind": "step", "id": "ship", "outcome": "failed", "value": { "name": "Error", "message": "no truck" }, "letter": "f", "fingerprint": 0 },
          { "turn": 3, "kind": "step", "id": "~charge", "outcome": "done", "letter": "v", "fingerprint": 0 }
        ],
        "end": { "status": "failed", "error": { "name": "Error", "message": "no truck" }, "compensated": ["charge"], "uncompensated": [] }
      }
      "
    `);
    expect(JSON.parse(text)).toEqual(run.recording);
    for (const { token } of run.points) expect(text).not.toContain(token);
    const url = pathToFileURL(join(folder, 'by url', 'order.json'));
    await run.save(url);
    expect(readFileSync(url, 'utf8')).toBe(text);
  });

  it('is not written without a file system, as in a browser', async () => {
    const run = await testSaga(parcel).on.elicit('sure', { sure: true }).run();
    vi.stubGlobal('process', undefined);
    const saved = await run.save('parcel.json').catch((error: unknown) => error);
    vi.unstubAllGlobals();
    expect(saved).toMatchObject({ code: 'script' });
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
  ])('[R3] of a saga %s replays with the same code', async (_, program, run) => {
    const { recording } = await run();
    const kept = JSON.parse(JSON.stringify(recording)) as unknown;
    await expect(replayRecording(kept, [program])).resolves.toBeUndefined();
  });

  it('[R2] contains values that JSON lacks', async () => {
    const dates = saga({ name: 'dates', version: '1' }, function* () {
      const { at, big } = yield* step('read', async () => ({
        at: new Date(0),
        big: 9n,
        none: undefined,
      }));
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

  it('contains the waits of a saga', async () => {
    const napping = saga({ name: 'napping', version: '1' }, function* () {
      yield* sleep(60_000);
      return yield* step('ring', async () => 'ring');
    });
    const { recording } = await testSaga(napping).run();
    expect(recording.happened.at(-1)).toMatchObject({ id: 'ring', waited: 60_000 });
    await replayRecording(recording, [napping]);
  });

  it('of a saga that continues as another saga contains both', async () => {
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

describe('the check of recordings before a deployment', () => {
  const recorded = async (): Promise<Recording> =>
    (await testSaga(parcel).on.elicit('sure', { sure: true }).run()).recording;

  it('[R3] shows a renamed step beside the recorded step', async () => {
    expect(await thrownBy(replayRecording(await recorded(), [parcels.renamed])))
      .toMatchInlineSnapshot(`
      "The current code differs from the recording of 'parcel'.

          recorded                     | now
          pack done: "box-1"           | pack done: "box-1"
          sure accepted: {"sure":true} | sure accepted: {"sure":true}
        > ship done: "on its way"      | runs deliver
          completed: "sent"            |

      Sagas of version '1' in flight cannot continue from here. Give the changed saga a new version and keep this one in \`previous\`, or put the change behind \`if (yield* patched(…))\`."
    `);
  });

  it('[R3] shows a reworded question beside the recorded question', async () => {
    expect(await thrownBy(replayRecording(await recorded(), [parcels.reworded])))
      .toMatchInlineSnapshot(`
      "The current code differs from the recording of 'parcel'.

          recorded                | now
          pack done: "box-1"      | pack done: "box-1"
        > asks sure: Send it?     | asks sure: Really send it, for 9 EUR?
          ship done: "on its way" |
          completed: "sent"       |

      Sagas of version '1' in flight cannot continue from here. Give the changed saga a new version and keep this one in \`previous\`, or put the change behind \`if (yield* patched(…))\`."
    `);
  });

  it('shows an additional step, a missing step, and another result', async () => {
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

  it('[R5] accepts a patch and another version, and not a removed version', async () => {
    await replayRecording(await recorded(), [parcels.patchedParcel]);
    await replayRecording(await recorded(), [parcels.versioned]);
    expect(await thrownBy(replayRecording(await recorded(), [parcels.dropped]))).toContain(
      "Version '1' of 'parcel', the version of the recording of 'parcel', is no longer served (served: '2')",
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

  it('shows an undo that was not recorded, and the new result of the saga', async () => {
    const keeping = (fails: boolean): Program =>
      saga({ name: 'keeping', version: '1', reuse: 'ok' }, function* () {
        yield* step('keep', () => 'kept', { compensate: () => undefined });
        if (fails) throw new RangeError('full');
      });
    const { recording } = await testSaga(keeping(false)).run();
    expect(await thrownBy(replayRecording(recording, [keeping(true)]))).toMatch(
      /undoes ~keep.*; failed: RangeError: full/,
    );
  });

  it.each<[string, unknown, string]>([
    ['a number', 43, '43'],
    ['a string', 'no truck', 'no truck'],
    ['nothing', undefined, 'a value of type undefined was thrown'],
  ])(
    'records the message that a saga has of %s that its body throws',
    async (_, thrown, message) => {
      const odd = saga({ name: 'odd', version: '1' }, function* () {
        yield* step('look', () => 1);
        throw thrown;
      });
      const { recording } = await testSaga(odd).run();
      expect(recording.end).toMatchObject({ error: { name: 'Error', message } });
      await replayRecording(JSON.parse(JSON.stringify(recording)), [odd]);
    },
  );

  it('records an error that JSON lacks', async () => {
    const odd = saga({ name: 'odd', version: '1' }, function* () {
      yield* step('look', () => 1);
      throw Symbol('odd');
    });
    const { recording } = await testSaga(odd).run();
    expect(recording.end).toMatchObject({
      error: { message: 'a value of type symbol was thrown' },
    });
  });

  it('creates a test for each file, and rejects a path without files', async () => {
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
    await expect(all[0]?.replay()).rejects.toThrow('Not a recording of a saga');
    expect(replayRecordings(join(folder, 'gate/*.json'), { sagas })).toHaveLength(1);
    expect(replayRecordings(join(folder, 'gate/one.json'), { sagas })).toHaveLength(1);
    expect(replayRecordings(join(folder, 'gate'), { sagas })).toHaveLength(3);
    expect(() => replayRecordings(join(folder, 'nowhere/*.json'), { sagas })).toThrow(
      'No recordings found',
    );
  });
});
