import { ClientCannot, elicit, race, saga, sleep } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const day = 24 * 60 * 60_000;

describe('waits in the test kit', () => {
  it('[W6] a sleep beyond the life of its saga throws ClientCannot, which its body may catch', async () => {
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

  it('[W6] waits of fractions of a millisecond are rounded up', async () => {
    const offer = saga({ name: 'offer', version: '1' }, function* () {
      yield* sleep(3_600_000 / 7);
      const answer = elicit('ok', { message: 'Buy?', schema: z.object({}), ttl: day / 7 });
      return (yield* race({ answer, late: sleep(day / 11) })).winner;
    });
    expect((await testSaga(offer).on.elicit('ok', {}).run()).result).toBe('answer');
  });
});
