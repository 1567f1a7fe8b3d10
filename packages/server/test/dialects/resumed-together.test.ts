import { memoryStore, saga, step, TurnAborted } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { RunningRequest } from '../../src/dialects/parts/running-request.ts';
import { resumeRequest } from '../../src/dialects/resumable-requests.ts';
import type { ClientCall } from '../../src/model/call-types.ts';
import type { SuspendedTurn } from '../../src/model/turn.ts';
import { coreOf } from '../../src/saga-host.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';

const greets = saga({ name: 'greets', version: '1' }, function* () {
  yield* step('greet', () => undefined);
  return 'Hello';
});

/** A call of a client that asks nothing, and whose connection is its own. */
function callOf(): ClientCall {
  return {
    method: 'tools/call',
    saga: greets,
    args: {},
    meta: {},
    id: 1,
    client: {
      era: 'modern',
      isSession: false,
      canBeModern: true,
      capabilities: {},
      asks: [],
      noteLacking: () => undefined,
    },
    caller: {},
    connection: { line: undefined, isLost: () => false, watch: () => () => undefined },
    requestState: undefined,
    inputResponses: undefined,
    send: () => Promise.reject(new Error('The client takes no requests.')),
    notify: () => Promise.resolve(),
    waitUntil: () => undefined,
    toResult: (turn) => ({ status: turn.status }),
  };
}

test.each(Array.from({ length: 16 }, (_, ticks) => ticks))(
  '[W5] [W7] a request that ends while two others resume it is answered like the first of these: %i ticks apart',
  async (ticks) => {
    const { host } = hostOf(greets, {
      store: memoryStore(),
      anonymous: { resumableRequests: 'accept' },
    });
    const core = coreOf(host);
    // The first request dies when the client has its token.
    const reported = deferred<SuspendedTurn>();
    const report = (turn: SuspendedTurn): Promise<never> => {
      reported.resolve(turn);
      return Promise.reject(new Error('The process died.'));
    };
    const request = {
      method: 'tools/call',
      dialect: { effects: 'never' },
      holder: { kind: 'client', resumable: { id: 1, beganAt: 0, dialect: {}, report } },
    } as const;
    await expect(core.start('greets', {}, {}, request)).rejects.toThrow('The process died.');
    const { token, sagaId } = await reported.promise;
    const running = new RunningRequest(core, callOf());
    running.note({ sagaId, token });
    const left = deferred<undefined>();
    const ends = deferred<undefined>();
    const first = running.run(async (own) => {
      own.caller.signal?.addEventListener('abort', () => left.resolve(undefined));
      await ends.promise;
      throw new TurnAborted(new Error('The request was resumed.'));
    });
    const waiting = resumeRequest(core, { resumeToken: token }, {}, callOf);
    // The status of this request is known later than that of the other, by a number of ticks.
    const known = deferred<undefined>();
    const asked = deferred<undefined>();
    const late: typeof core = {
      ...core,
      status: async (...of) => {
        const status = await core.status(...of);
        asked.resolve(undefined);
        await known.promise;
        return status;
      },
    };
    const coming = resumeRequest(late, { resumeToken: token }, {}, callOf);
    await Promise.all([left.promise, asked.promise]);
    known.resolve(undefined);
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    ends.resolve(undefined);
    const answers = await Promise.all([first, waiting, coming]);
    expect(answers).toEqual(answers.map(() => ({ status: 'completed' })));
  },
  2_000,
);
