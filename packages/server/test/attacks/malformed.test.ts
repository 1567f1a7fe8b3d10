import { createKeyRing, createSealer, type Sealer } from '@mcp-saga/seal';
import {
  elicit,
  memoryStore,
  saga,
  step,
  TokenRefused,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { start, testClock } from '../fixtures/clock.ts';
import { accept, hostOf, oldKey, suspended, type TestHost } from '../fixtures/host.ts';
import { handlerOf } from '../fixtures/rounds.ts';
import { ask } from '../fixtures/raw.ts';
import { Target } from '../fixtures/sagas.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog, rejectionLog } from '../../../../test/support/known-logs.ts';

expectLogs(restartLog, rejectionLog('malformed'));

const mark = 'kq918273';
const method = 'tools/callSaga';

type Streams = readonly (string | Uint8Array)[];

/** The streams of a good token, made worse. */
const malformed: { readonly [name: string]: (streams: Streams) => Streams } = {
  'no streams': () => [],
  'a stream less': (streams) => streams.slice(0, 3),
  'text in the place of its secret': ([, ...rest]) => [`${mark} is no JSON`, ...rest],
  'bytes that are no text': ([, ...rest]) => [Uint8Array.of(0xff, 0xfe, 0x7b), ...rest],
  'null in the place of its secret': ([, ...rest]) => ['null', ...rest],
  'a short secret': ([own, ...rest]) => [bytesOf(own).subarray(0, 20), ...rest],
  'no secret': ([, ...rest]) => [Uint8Array.of(1), ...rest],
  'a secret alone': ([own, ...rest]) => [bytesOf(own).subarray(0, 33), ...rest],
  'a first byte of its own': ([own, ...rest]) => [
    Uint8Array.of(3, ...bytesOf(own).subarray(1)),
    ...rest,
  ],
  'no line feed before its head': ([own, ...rest]) => [withText(own, () => `{"turn":1}`), ...rest],
  'members that are no JSON': ([own, ...rest]) => [
    withText(own, (text) => `{${mark}${text}`),
    ...rest,
  ],
  'members that are null': ([own, ...rest]) => [withText(own, (text) => `null${text}`), ...rest],
  'members that are a list': ([own, ...rest]) => [withText(own, (text) => `[0]${text}`), ...rest],
  'a generation that is a text': ([own, ...rest]) => [
    withText(own, (text) => `{"g":"${mark}"}${text}`),
    ...rest,
  ],
  'a trace that is a number': ([own, ...rest]) => [
    withText(own, (text) => `{"t":1}${text}`),
    ...rest,
  ],
  'a head that is empty': ([own, ...rest]) => [withText(own, () => '\n'), ...rest],
  'a head of bytes that are no text': ([own, ...rest]) => [
    Uint8Array.of(...bytesOf(own).subarray(0, 33), 10, 0xc3, 0x28),
    ...rest,
  ],
  'no head': ([own, ...rest]) => [withText(own, () => ''), ...rest],
  'a head that is no JSON': ([own, ...rest]) => [withText(own, () => `\n{${mark}`), ...rest],
  'a head that is null': ([own, ...rest]) => [withText(own, () => '\nnull'), ...rest],
  'an empty head': ([own, ...rest]) => [withText(own, () => '\n{}'), ...rest],
  'a structure that is no JSON': ([own = '', , ...rest]) => [own, `"${mark}`, ...rest],
  'a structure of objects': ([own = '', , ...rest]) => [own, `{"${mark}":1},2`, ...rest],
  'a structure of entries that nobody writes': ([own = '', , ...rest]) => [
    own,
    `"?${mark}",2`,
    ...rest,
  ],
  'a structure of bytes that are no text': ([own = '', , ...rest]) => [
    own,
    Uint8Array.of(0xc3, 0x28),
    ...rest,
  ],
  'answers that are no JSON': ([own = '', structure = '', , ...rest]) => [
    own,
    structure,
    mark,
    ...rest,
  ],
  'results that are no JSON': (streams) => [...streams.slice(0, 3), `{${mark}`],
  'results with a tag that nobody writes': (streams) => [
    ...streams.slice(0, 3),
    `{"$":["?","${mark}"]}`,
  ],
};

/** The host's stream with another text behind its secret. */
function withText(
  own: string | Uint8Array | undefined,
  change: (text: string) => string,
): Uint8Array {
  const bytes = Buffer.from(bytesOf(own));
  const behind = change(bytes.subarray(33).toString('utf8'));
  return Uint8Array.from(Buffer.concat([bytes.subarray(0, 33), Buffer.from(behind)]));
}

function bytesOf(stream: string | Uint8Array | undefined): Uint8Array {
  if (typeof stream !== 'object') throw new TypeError('The stream must be bytes');
  return stream;
}

const ran: string[] = [];
const builds = saga({ name: 'builds', version: '1' }, function* () {
  const built = yield* step('build', () => ({ id: mark }), {
    compensate: () => void ran.push('undo'),
  });
  const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
  yield* step('deploy', () => void ran.push('deploy'));
  return `${built.id} ${target}`;
});

const sealer: Sealer = createSealer({
  ring: createKeyRing(oldKey),
  audience: 'deployer',
  clock: () => start,
});

function guardedHost(hooks: SagaHostOptions['hooks'] = {}): TestHost {
  const clock = testClock();
  return hostOf(builds, {
    store: memoryStore({ clock }),
    shortTokens: false,
    clock,
    hooks: { onTurn: () => undefined, ...hooks },
  });
}

/** A token behind a good key, whose streams were changed. */
async function forged(token: string, change: (streams: Streams) => Streams): Promise<string> {
  const { claims, sid, streams } = await sealer.open(token, { purpose: 'token' });
  const worse = change(streams);
  return await sealer.seal(
    'token',
    sid,
    claims,
    worse.map((bytes) => ({ bytes, compress: false })),
  );
}

beforeEach(() => {
  ran.length = 0;
});

describe.each(Object.entries(malformed))(
  'a malformed token sealed with a valid key, with %s',
  (_, change) => {
    test('[T11] is rejected by each method of a host, without its content, before anything runs', async () => {
      const reasons: string[] = [];
      const errors: unknown[] = [];
      const hooks = {
        onReject: ({ reason }: { readonly reason: string }) => reasons.push(reason),
        onError: (error: unknown) => errors.push(error),
      };
      const thrown: Error[] = [];
      for (const use of [
        (host: SagaHost, token: string) =>
          host.resume(token, [accept('target', { target: 'prod' })]),
        (host: SagaHost, token: string) => host.cancel(token),
        (host: SagaHost, token: string) => host.inspect(token),
      ]) {
        const { host } = guardedHost(hooks);
        const { token } = suspended(await coreOf(host).start('builds', {}, {}, { method }));
        thrown.push(await thrownBy(TokenRefused, use(host, await forged(token, change))));
      }
      for (const error of thrown) {
        expect(error).toMatchObject({ code: 'refused', reason: 'malformed' });
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(mark);
      }
      expect(reasons).toEqual(['malformed', 'malformed']);
      expect(errors).toEqual([]);
      expect(ran).toEqual([]);
    });

    test('[T5] gets the frozen response over HTTP', async () => {
      const { host } = guardedHost();
      const { token } = suspended(await coreOf(host).start('builds', {}, {}, { method }));
      const params = { sagaToken: await forged(token, change), completedSteps: [] };
      const { last, text: body } = await ask(handlerOf(host), 'modern', 'tools/resumeSaga', params);
      expect(last.error).toMatchObject({ code: -32602, data: { reason: 'invalid_saga_token' } });
      expect(body).not.toContain(mark);
    });
  },
);

test.each<[string, (streams: Streams) => Streams]>([
  ['unchanged streams', (streams) => streams],
  [
    'rare members',
    ([own, ...rest]) => [withText(own, (text) => `{"g":0,"n":1,"t":"x"}${text}`), ...rest],
  ],
])('[T11] accepts a token with %s', async (_, change) => {
  const { host } = guardedHost();
  const { token } = suspended(await host.start('builds', {}));
  const same = await forged(token, change);
  expect(await host.resume(same, [accept('target', { target: 'prod' })])).toMatchObject({
    status: 'completed',
  });
});
