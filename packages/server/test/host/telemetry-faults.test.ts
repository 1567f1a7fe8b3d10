import {
  all,
  createSagaHost,
  elicit,
  poll,
  saga,
  step,
  type SagaTelemetry,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { accept, failed, hostOf, oldKey, suspended, type TestHost } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';

const asks = (message: string) => ({ message, schema: Empty });

/** Telemetry that misbehaves in one way, wherever it can. */
const misbehaving: { readonly [how: string]: SagaTelemetry } = {
  'throws at once': {
    turn: () => {
      throw new Error('telemetry');
    },
    refused: () => {
      throw new Error('telemetry');
    },
  },
  'throws everywhere else': misbehavingSpan(() => {
    throw new Error('telemetry');
  }),
  'throws when it has called': misbehavingSpan((work) => {
    work?.();
    throw new Error('telemetry');
  }),
  'never calls': misbehavingSpan(() => undefined),
  'calls twice': misbehavingSpan((work) => {
    work?.();
    work?.();
  }),
  'calls later': misbehavingSpan((work) => void Promise.resolve().then(work)),
  rejects: misbehavingSpan((work) => {
    work?.();
    return Promise.reject(new Error('telemetry'));
  }),
  'gives nothing': { turn: () => undefined as never, refused: () => undefined },
  'gives nonsense': { turn: () => 7 as never, refused: () => undefined },
};

function misbehavingSpan(misbehave: (work?: () => void) => unknown): SagaTelemetry {
  const call = misbehave as (work: () => void) => void;
  const other = (): void => misbehave() as undefined;
  const attempt = { within: call, end: other };
  return {
    turn: () => ({
      get parent(): undefined {
        if (misbehave.length === 0) return misbehave() as undefined;
        return undefined;
      },
      within: call,
      event: other,
      step: (): typeof attempt => attempt,
      end: other,
    }),
    refused: other,
  };
}

describe.each(Object.entries(misbehaving))('telemetry that %s', (_, telemetry) => {
  test('[E1] does not change what a saga does', async () => {
    const runs: string[] = [];
    const working = saga({ name: 'working', version: '1', reuse: 'ok' }, function* () {
      const done = yield* all({
        a: step('one', () => runs.push('one'), { compensate: () => void runs.push('not one') }),
        b: step('two', async () => runs.push('two')),
      });
      yield* poll('three', () => runs.push('three'), { every: 1, timeout: 10 });
      yield* elicit('go', asks('Go?'));
      yield* step('four', () => {
        runs.push('four');
        throw new TypeError('four');
      });
      return JSON.stringify(done);
    });
    const taken = async ({ host, told: { steps, turns } }: TestHost): Promise<object> => {
      runs.length = 0;
      const one = suspended(await host.start('working', {}));
      const { timeline } = await host.inspect(one.token);
      await expect(host.resume(alterEnd(one.token))).rejects.toThrow('Invalid or expired');
      const two = failed(await host.resume(one.token, [accept('go', {})]));
      const { compensated, error } = two;
      const ended = turns.map(({ status }) => status);
      return { timeline, compensated, error: String(error), runs: [...runs], steps, ended };
    };
    const without = await taken(hostOf(working));
    expect(await taken(hostOf(working, { telemetry }))).toEqual(without);
    expect(without).toMatchObject({ runs: ['one', 'two', 'three', 'four', 'not one'] });
  });
});

test('a host rejects an invalid telemetry option at its creation', () => {
  const options = { sagas: [asking()], name: 'deployer', keys: oldKey };
  for (const telemetry of [null, {}, () => undefined, 'otel']) {
    expect(() => createSagaHost({ ...options, telemetry: telemetry as never })).toThrow(
      'telemetry: expected the result of openTelemetry() of @mcp-saga/opentelemetry.',
    );
  }
});
