import { all, elicit, saga, sleep, step, type Program, type SagaHost } from '@mcp-saga/server';
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { context, diag, propagation, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { accept, hostOf, suspended } from './support/sagas.ts';
import {
  eventsOf,
  idOf,
  manageContext,
  traceOf,
  tracing,
  type Tracing,
} from './support/tracing.ts';

afterEach(() => {
  context.disable();
  trace.disable();
});

const activeSpan = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId;

function hostWith(traced: Tracing, program: Program): SagaHost {
  return hostOf([program], { telemetry: openTelemetry({ tracerProvider: traced.provider }) });
}

describe('the active span of code', () => {
  test('is the span of the step, before and after a wait, in concurrent branches', async () => {
    manageContext();
    const traced = tracing();
    const seen = new Map<string, (string | undefined)[]>();
    const meeting = gathering(2);
    const look = (id: string) => async (): Promise<void> => {
      const before = activeSpan();
      await meeting();
      seen.set(id, [before, activeSpan()]);
    };
    const both = saga({ name: 'both', version: '1' }, function* () {
      yield* all({ a: step('left', look('left')), b: step('right', look('right')) });
      return 'done';
    });
    await hostWith(traced, both).start('both', {});
    for (const id of ['left', 'right']) {
      const own = idOf(traced.span(`step ${id}`));
      expect(seen.get(id)).toEqual([own, own]);
    }
    expect(seen.get('left')).not.toEqual(seen.get('right'));
  });

  test('is the turn in bodies and hooks, and a separate span in an answer of the host', async () => {
    manageContext();
    const traced = tracing();
    const seen: { [place: string]: string | undefined } = {};
    const asking = saga({ name: 'asking', version: '1' }, function* () {
      seen['body'] = activeSpan();
      yield* elicit('go', {
        message: 'Go?',
        schema: z.object({}),
        fallback: () => {
          seen['fallback'] = activeSpan();
          return {};
        },
      });
      return 'done';
    });
    const host = hostOf([asking], {
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
      hooks: { onTurn: () => void (seen['onTurn'] = activeSpan()) },
    });
    await host.start('asking', {}, { caller: { capabilities: {} } });
    const turn = traced.span('saga asking');
    const own = idOf(traced.span('fallback go'));
    expect(seen).toEqual({ body: idOf(turn), fallback: own, onTurn: idOf(turn) });
    expect(turn.events.map(({ name }) => name)).toEqual([
      'saga.step.started',
      'saga.step.succeeded',
    ]);
  });

  test('is the previous span after the host has answered', async () => {
    manageContext();
    const traced = tracing();
    const plain = saga({ name: 'plain', version: '1' }, function* () {
      return `${yield* step('work', () => 1)} done`;
    });
    await traced.provider.getTracer('http').startActiveSpan('POST', async (span) => {
      await hostWith(traced, plain).start('plain', {});
      expect(activeSpan()).toBe(span.spanContext().spanId);
      span.end();
    });
  });

  test('keeps the other values of the request context', async () => {
    manageContext();
    const traced = tracing();
    const tenants: unknown[] = [];
    const paid = saga({ name: 'paid', version: '1' }, function* () {
      yield* step('pay', () => {
        tenants.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value);
      });
      return 'done';
    });
    const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
    await context.with(propagation.setBaggage(context.active(), baggage), () =>
      hostWith(traced, paid).start('paid', {}),
    );
    expect(tenants).toEqual(['acme']);
  });

  test('is found by lazy values that a step returns', async () => {
    manageContext();
    const traced = tracing();
    const begun: (string | undefined)[] = [];
    // Like a query builder: the query begins each time that it is awaited.
    const query = {
      // oxlint-disable-next-line unicorn/no-thenable -- that is what it is
      then: (done: (rows: number) => void): void => {
        begun.push(activeSpan());
        done(3);
      },
    };
    const reading = saga({ name: 'reading', version: '1' }, function* () {
      return `${yield* step('read', () => query as unknown as Promise<number>)} rows`;
    });
    const turn = await hostWith(traced, reading).start('reading', {});
    expect(turn).toMatchObject({ status: 'completed', result: '3 rows' });
    expect(begun).toEqual([idOf(traced.span('step read'))]);
  });
});

/** A barrier for this number of callers. */
function gathering(count: number): () => Promise<void> {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((met) => (resolve = met));
  let here = 0;
  return () => {
    here += 1;
    if (here === count) resolve();
    return promise;
  };
}

describe('[P1] a runtime without a context manager', () => {
  test('still produces one trace of turns and steps', async () => {
    const traced = tracing();
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      yield* step('charge', async () => activeSpan() ?? 'none');
      yield* elicit('go', { message: 'Go?', schema: z.object({}) });
      yield* step('ship', () => 1);
      return 'done';
    });
    const { token } = suspended(await hostWith(traced, paying).start('paying', {}));
    await hostWith(traced, paying).resume(token, [accept('go')]);
    expect(traced.tree()).toBe(
      ['saga paying', '  step charge', '  saga paying', '    step ship'].join('\n'),
    );
    expect(new Set(traced.spans().map(traceOf)).size).toBe(1);
  });
});

describe('the provider that is registered globally', () => {
  const plain = saga({ name: 'plain', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: z.object({}) });
    return 'done';
  });

  test('is used even if it is registered after the host is created', async () => {
    const traced = tracing();
    const host = hostOf([plain], { telemetry: openTelemetry() });
    trace.setGlobalTracerProvider(traced.provider);
    await host.start('plain', {});
    expect(traced.tree()).toBe('saga plain');
  });

  test('may be missing: nothing is traced, and tokens contain no span', async () => {
    const host = hostOf([plain], { telemetry: openTelemetry() });
    const { token } = suspended(await host.start('plain', {}));
    expect((await host.inspect(token)).trace).toBeUndefined();
    expect(await host.resume(token, [accept('go')])).toMatchObject({ status: 'completed' });
  });
});

test('a sleeping saga reports the time to wait', async () => {
  const traced = tracing();
  const asleep = saga({ name: 'asleep', version: '1' }, function* () {
    yield* sleep(1_000_000);
    return 'done';
  });
  const telemetry = openTelemetry({ tracerProvider: traced.provider });
  await hostOf([asleep], { telemetry, testing: { clock: () => 1_760_000_000_000 } }).start(
    'asleep',
    {},
  );
  expect(eventsOf(traced.span('saga asleep'))).toEqual([
    [
      'saga.suspended',
      { 'saga.step.ids': [], 'saga.step.kinds': [], 'saga.retry_after_ms': 1_000_000 },
    ],
  ]);
});

describe('the names of spans', () => {
  test('are the IDs in the code, with scopes, loops, and starts in attributes only', async () => {
    const traced = tracing();
    const looping = saga({ name: 'looping', version: '1', reuse: 'ok' }, function* () {
      for (let count = 0; count < 3; count += 1) yield* step('item', () => count);
      for (const key of ['7', 'a/b) (c#2', '\n'])
        yield* step('send', () => 1, { key, compensate: undoing });
      yield* all({ 'order:17': inScope() });
      throw new Error('undo it');
    });
    function* undoing() {
      yield* step('unsend', () => 1, { key: 'secret' });
    }
    function* inScope() {
      return yield* step('look', () => 1);
    }
    await hostWith(traced, looping).start('looping', {});
    const steps = traced.spans().filter(({ name }) => name !== 'saga looping');
    expect(steps.map(({ name, attributes }) => [name, attributes['saga.step.id']])).toEqual([
      ['step item', 'item'],
      ['step item', 'item#2'],
      ['step item', 'item#3'],
      ['step send', 'send(*)'],
      ['step send', 'send(*)'],
      ['step send', 'send(*)'],
      ['step look', 'order:17/look'],
      ['undo send', 'send(*)'],
      ['undo send', 'send(*)'],
      ['undo send', 'send(*)'],
    ]);
  });
});

test('an open span of a step ends with its turn, and no span ends twice', async () => {
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  diag.setLogger({
    error: say,
    warn: say,
    info: () => undefined,
    debug: () => undefined,
    verbose: () => undefined,
  });
  onTestFinished(() => diag.disable());
  const traced = tracing();
  const odd = saga({ name: 'odd', version: '1' }, function* () {
    yield* step('even', () => 1);
    yield* step('odd', () => {
      // A thrown value whose properties throw.
      throw new Proxy(
        {},
        {
          get: () => {
            throw new Error('secret');
          },
        },
      );
    });
    return 'done';
  });
  await hostWith(traced, odd).start('odd', {});
  expect(traced.tree()).toBe(['saga odd', '  step even', '  step odd'].join('\n'));
  expect(said).toEqual([]);
});
