import { all, checkpoint, elicit, poll, saga, sleep, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { called, sent, served } from '../fixtures/calling.ts';
import { eras } from '../fixtures/raw.ts';
import type { TestClock } from '../fixtures/clock.ts';
import { Empty } from '../fixtures/sagas.ts';

const key = 'io.github.mcp-saga/saga';
const waiting = (
  when: string,
  token: string | undefined,
  clock: TestClock,
  ttl = 3_600_000,
): string =>
  `This call is not finished. ${when} this tool again with the same arguments and one more, before ` +
  `${new Date(clock.now + ttl).toISOString()}. The argument resumeToken is exactly this:\n${token}`;

describe.each(eras)('%s', (era) => {
  test('[W1] a checkpoint shows its text and continues at once', async () => {
    const runs: number[] = [];
    const paging = saga({ name: 'paging', version: '1' }, function* () {
      for (const page of [1, 2]) {
        yield* step('fetch', () => void runs.push(page));
        yield* checkpoint(`page ${page}`);
      }
      yield* checkpoint();
      return 'last page';
    });
    const { server, clock } = served([paging]);
    const texts: string[] = [];
    let token: string | undefined;
    do {
      const args = token === undefined ? {} : { resumeToken: token };
      const turn = await called(server, era, { name: 'paging', arguments: args });
      ({ token } = turn);
      texts.push(turn.text.replace(waiting('Call', token, clock), 'again'));
      if (token !== undefined) {
        expect(turn.result['_meta']).toMatchObject({ [key]: { retryAfterMs: 0 } });
        expect(turn.result['content']).toHaveLength(texts.length < 3 ? 2 : 1);
      }
    } while (token !== undefined);
    expect(texts).toEqual(['page 1\nagain', 'page 2\nagain', 'again', 'last page']);
    expect(runs).toEqual([1, 2]);
  });

  test('[W1] a poll reports its progress and the time to return, and does not run earlier', async () => {
    let ready = false;
    let polled = 0;
    const watching = saga({ name: 'watching', version: '1' }, function* () {
      const found = yield* poll(
        'ready',
        () => {
          polled += 1;
          return ready ? 'ready' : undefined;
        },
        { every: 5_000, timeout: 60_000, report: ({ asked }) => `Asked ${asked} times.` },
      );
      return found;
    });
    const { server, clock } = served([watching]);
    const first = await called(server, era, { name: 'watching' });
    expect(first.text).toBe(
      `Asked 1 times.\n${waiting('Wait 5 seconds, then call', first.token, clock, 3_660_000)}`,
    );
    expect(first.result['_meta']).toMatchObject({ [key]: { retryAfterMs: 5_000 } });
    clock.now += 4_200;
    const early = await called(server, era, {
      name: 'watching',
      _meta: { resumeToken: first.token },
    });
    expect(early.text).toBe(
      `Asked 1 times.\n${waiting('Wait 1 second, then call', early.token, clock, 3_655_800)}`,
    );
    expect(polled).toBe(1);
    ready = true;
    clock.now += 800;
    const args = { resumeToken: early.token };
    expect(await called(server, era, { name: 'watching', arguments: args })).toMatchObject({
      text: 'ready',
      token: undefined,
    });
  });

  test.each([
    [1_500, '2 seconds'],
    [90_000, '90 seconds'],
    [600_000, '10 minutes'],
    [86_400_000, '24 hours'],
  ])('[W6] a sleep of %i ms is reported as %s', async (ms, words) => {
    const ttl = ms + 3_600_000;
    const sleeping = saga({ name: 'sleeping', version: '1' }, function* () {
      yield* sleep(ms);
      return 'awake';
    });
    const { server, clock } = served([sleeping]);
    const { text, token } = await called(server, era, { name: 'sleeping' });
    expect(text).toBe(waiting(`Wait ${words}, then call`, token, clock, ttl));
    clock.now += ms;
    const args = { resumeToken: token };
    expect(await called(server, era, { name: 'sleeping', arguments: args })).toMatchObject({
      text: 'awake',
    });
  });

  test('[W4] shown texts precede questions', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      yield* all({
        asked: elicit('go', { message: 'Go?', schema: Empty }),
        watched: poll('ready', () => undefined, {
          every: 1_000,
          timeout: 2_000,
          report: 'Not ready.',
        }),
      });
      return '';
    });
    const { server } = served([both], { answerers: { model: 'accept' } });
    const { result } = await called(server, era, { name: 'both' });
    expect(result['content']).toMatchObject([
      { text: 'Not ready.' },
      { text: expect.stringContaining('Go?') },
    ]);
  });

  test('[U4] work beyond the time of a request continues in the next request', async () => {
    const runs: string[] = [];
    const long = saga({ name: 'long', version: '1' }, function* () {
      yield* step('one', () => {
        runs.push('one');
        clock.now += 100;
      });
      yield* step('two', () => void runs.push('two'));
      return 'done';
    });
    const { server, clock } = served([long], { limits: { turnBudget: 50 } });
    const { text, token } = await called(server, era, { name: 'long' });
    expect(text).toBe(waiting('Call', token, clock));
    expect(runs).toEqual(['one']);
    const end = await sent(server, era, { name: 'long', arguments: { resumeToken: token } });
    expect(end).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(runs).toEqual(['one', 'two']);
  });
});
