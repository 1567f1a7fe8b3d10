import { all, ClientCannot, elicit, now, race, saga, sample, sleep } from '@mcp-saga/server';
import { refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf } from './support/error-of.ts';

const day = 24 * 60 * 60_000;

describe('waits in the test kit', () => {
  it('[W6] a sleep longer than the lifetime of its saga throws ClientCannot, which its body may catch', async () => {
    const patient = saga({ name: 'patient', version: '1' }, function* () {
      try {
        yield* sleep(30 * day);
        return 'rested';
      } catch (error) {
        return error instanceof ClientCannot ? error.need : 'another error';
      }
    });
    expect((await testSaga(patient).run()).result).toBe('wait');
  });

  it('[W6] waits with fractions of a millisecond are rounded up', async () => {
    const offer = saga({ name: 'offer', version: '1' }, function* () {
      yield* sleep(3_600_000 / 7);
      const answer = elicit('ok', { message: 'Buy?', schema: z.object({}), timeout: day / 7 });
      return (yield* race({ answer, late: sleep(day / 11) })).winner;
    });
    expect((await testSaga(offer).on.elicit('ok', {}).run()).result).toBe('answer');
  });
});

const minute = 60_000;
const Yes = z.object({ yes: z.boolean() });

/** Asks for ten minutes, and continues without an answer then. */
const offer = saga({ name: 'offer', version: '1' }, function* () {
  const answer = elicit('ok', { message: 'Buy?', schema: Yes });
  const { winner, value } = yield* race({ answer, late: sleep(10 * minute) });
  return winner === 'answer' ? `bought: ${value.yes}` : 'withdrawn';
});

describe('time during a question', () => {
  const bought = testSaga(offer).on.elicit('ok', { yes: true });

  it('[W6] an answer is delayed: it counts in time, and after the deadline the saga has continued', async () => {
    const inTime = await bought.late.elicit('ok', 9 * minute).run();
    expect(inTime.result).toBe('bought: true');
    expect(inTime.trace.lines).toContain('waited 540000 ms (9 min)');
    expect((await bought.late.elicit('ok', 11 * minute).run()).result).toBe('withdrawn');
  });

  it('[W6] a client that returns without an answer is asked again until the deadline', async () => {
    const run = await bought.silent.elicit('ok', 4 * minute).run();
    expect(run.result).toBe('withdrawn');
    // The store answers the second return with the same turn.
    expect(run.trace.lines.filter((line) => line.startsWith('waited'))).toEqual([
      'waited 240000 ms (4 min)',
      'waited 480000 ms (8 min)',
    ]);
    expect(run.trace.lines.filter((line) => line.startsWith('asked'))).toHaveLength(1);
  });

  it('a delayed answer does not delay the answers to other questions', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const timeOf = function* (id: string) {
        yield* elicit('ok', { message: `${id}?`, schema: Yes });
        return yield* now();
      };
      const { one, two } = yield* all({ one: timeOf('one'), two: timeOf('two') });
      return `one: ${one / 1_000} s, two: ${two / 1_000} s`;
    });
    const test = testSaga(both, { clock: 0 })
      .on.elicit('one/ok', { yes: true })
      .on.elicit('two/ok', { yes: true });
    const { result } = await test.late.elicit('one/ok', minute).run();
    expect(result).toBe('one: 60 s, two: 0 s');
  });

  it('only the last line about the time of a question is used, and is in the script to paste', async () => {
    const test = bought.silent.elicit('ok', minute).late.elicit('ok', 2 * minute);
    expect((await test.run()).result).toBe('bought: true');
    expect(test.source).toContain(".late.elicit('ok', 120000)");
  });

  it('a delay of a question that is never asked is an error', async () => {
    const error = await errorOf(bought.late.elicit('okay', minute).run());
    expect(error).toMatchObject({ code: 'script' });
    expect(String(error)).toContain("did you mean 'ok'?");
  });

  it('[W4] refuseEverywhere lets each deadline pass, with a late answer and without one', async () => {
    const careless = saga({ name: 'careless', version: '1' }, function* () {
      const answer = elicit('ok', { message: 'Buy?', schema: Yes });
      const { winner, value } = yield* race({ answer, late: sleep(10 * minute) });
      return (winner === 'answer' ? String(value.yes) : undefined)!.toUpperCase();
    });
    const error = await errorOf(
      refuseEverywhere(testSaga(careless).on.elicit('ok', { yes: true }), {}),
    );
    expect(error).toMatchObject({ code: 'violated' });
    expect(String(error)).toContain("When 'ok' is answered a minute after its deadline");
    expect(String(error)).toContain("When 'ok' is not answered by its deadline");
    expect(String(error)).toContain(".late.elicit('ok#1', 660000)");
    const advised = saga({ name: 'advised', version: '1' }, function* () {
      const asked = sample('advice', { messages: [], maxTokens: 9 });
      const { winner } = yield* race({ asked, late: sleep(minute) });
      return winner;
    });
    // Answered with nothing, with an image, an error, late, silent.
    expect(await refuseEverywhere(testSaga(advised).on.sample('advice', 'Buy'))).toEqual({
      cases: 5,
    });
    // Declined, dismissed, two edges, late, silent.
    expect(await refuseEverywhere(bought)).toEqual({ cases: 6 });
  });
});
