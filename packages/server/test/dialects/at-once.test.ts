import { checkpoint, ClientCannot, elicit, promptSaga, sleep } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { testClock, tickingClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { reviewPrompt } from '../fixtures/prompts.ts';
import { ask, type RawMessage } from '../fixtures/raw.ts';
import { handlerOf, round } from '../fixtures/rounds.ts';
import { Target } from '../fixtures/sagas.ts';

const review = { name: 'review', arguments: { language: 'Ada' } };

describe('a prompt for a client that cannot be asked', () => {
  const patient = promptSaga(
    { name: 'patient', version: '1', input: z.object({ ms: z.string().transform(Number) }) },
    function* ({ ms }) {
      yield* checkpoint();
      try {
        yield* sleep(ms);
        return 'waited';
      } catch (error) {
        return error instanceof ClientCannot ? error.need : 'other';
      }
    },
  );
  const wanting = promptSaga({ name: 'wanting', version: '1' }, function* () {
    try {
      yield* elicit('target', { message: 'Where?', schema: Target });
    } catch (error) {
      if (error instanceof ClientCannot) return `no ${error.need}`;
    }
    return 'asked';
  });
  const { host, told } = hostOf([patient, wanting, reviewPrompt()], {
    limits: { maxHold: 50 },
    clock: tickingClock(),
  });
  const server = handlerOf(host);
  const getting = async (
    era: 'legacy' | 'modern',
    name: string,
    args: object,
  ): Promise<RawMessage> =>
    era === 'legacy'
      ? (await ask(server, era, 'prompts/get', { name, arguments: args })).last
      : (
          await round(
            server,
            { method: 'prompts/get', name, arguments: { ...args } },
            { capabilities: {} },
          )
        ).last;

  test.each(['legacy', 'modern'] as const)('[W3] fails at the step that asks: %s', async (era) => {
    const { result } = await getting(era, 'wanting', {});
    expect(result).toMatchObject({ messages: [{ content: { text: 'no elicitation' } }] });
    const { error } = await getting(era, 'review', review.arguments);
    expect(error).toMatchObject({
      code: -32_603,
      message: expect.stringContaining("'user_context'"),
    });
    // One of 2025 may have declared, in another request, that it can be asked.
    if (era === 'legacy') expect(error?.message).toContain("versionNegotiation: { mode: 'auto' }");
    else expect(error?.message).not.toContain('session');
    expect(told.errors).toEqual([]);
  });

  test('[W6] holds a short wait in the request, and rejects a long one at the step', async () => {
    const short = await getting('legacy', 'patient', { ms: '1' });
    expect(short.result).toMatchObject({ messages: [{ content: { text: 'waited' } }] });
    const long = await getting('legacy', 'patient', { ms: '60000' });
    expect(long.result).toMatchObject({ messages: [{ content: { text: 'wait' } }] });
  });
});

test.each([
  [15, 15],
  [5, 5, 5, 5, 5],
])('[W6] holds several waits together at most as long as one: %i s, %i s', async (...waits) => {
  const clock = testClock();
  const patient = promptSaga({ name: 'patient', version: '1' }, function* () {
    for (const s of waits) yield* sleep(s * 1_000);
    return 'waited';
  });
  const { host } = hostOf(patient, {
    clock,
    testing: { sleep: async (ms) => void (clock.now += ms) },
  });
  const began = clock.now;
  const { last } = await ask(handlerOf(host), 'legacy', 'prompts/get', { name: 'patient' });
  expect(last.error?.message).toContain('takes longer');
  expect(clock.now - began).toBeLessThanOrEqual(20_000);
});
