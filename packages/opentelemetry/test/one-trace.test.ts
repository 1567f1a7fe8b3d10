import { memoryStore, type SagaHost } from '@mcp-saga/server';
import { context, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accept, hostOf, order, say, suspended } from './support/sagas.ts';
import {
  eventsOf,
  idOf,
  linksOf,
  manageContext,
  traceOf,
  tracing,
  type Tracing,
} from './support/tracing.ts';
import { coreOf } from '../../server/src/saga-host.ts';
import { alterEnd } from '../../../test/support/wire/tamper.ts';

let stop: () => void;
beforeAll(() => {
  stop = manageContext();
});
afterAll(() => stop());

/** Does something within a span, as the instrumentation of an HTTP server does. */
async function inRequest<T>(tracer: Tracer, name: string, work: () => Promise<T>): Promise<T> {
  return await tracer.startActiveSpan(name, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

/** Two hosts, as in two processes, and their spans. */
function processes(): {
  readonly traced: Tracing;
  readonly one: SagaHost;
  readonly other: SagaHost;
} {
  const traced = tracing();
  const sagas = [order(traced)];
  const make = (): SagaHost =>
    hostOf(sagas, {
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
      testing: { sleep: async () => undefined, clock: ticking() },
    });
  return { traced, one: make(), other: make() };
}

function ticking(): () => number {
  let now = 1_760_000_000_000;
  return () => (now += 5);
}

describe('a saga whose turns run in different processes', () => {
  test('[P2] is one trace of turns, attempts of steps, and their calls', async () => {
    const { traced, one, other } = processes();
    const http = traced.provider.getTracer('http');
    const first = suspended(await inRequest(http, 'POST /mcp 1', () => one.start('order', {})));
    const second = suspended(
      await inRequest(http, 'POST /mcp 2', () =>
        other.resume(first.token, [accept('sure', { sure: 'yes' })]),
      ),
    );
    await inRequest(http, 'POST /mcp 3', () =>
      one.resume(second.token, [say('thanks', 'Thanks!')]),
    );
    expect(traced.tree()).toBe(
      [
        'POST /mcp 1',
        '  saga order',
        '    step charge',
        '      POST /charges',
        '    step stock',
        '      GET /stock',
        '    step stock',
        '      GET /stock',
        '    saga order',
        '      poll parcel',
        '        GET /parcel',
        '      poll parcel',
        '        GET /parcel',
        '    saga order',
        'POST /mcp 2',
        'POST /mcp 3',
      ].join('\n'),
    );
    const [turn1, turn2, turn3] = [
      traced.span('saga order'),
      traced.span('saga order', 1),
      traced.span('saga order', 2),
    ];
    const [http1, http2, http3] = [
      traced.span('POST /mcp 1'),
      traced.span('POST /mcp 2'),
      traced.span('POST /mcp 3'),
    ];
    expect([turn1, turn2, turn3].map(traceOf)).toEqual(
      Array.from({ length: 3 }, () => traceOf(http1)),
    );
    expect(new Set([http1, http2, http3].map(traceOf)).size).toBe(3);
    // Both traces meet: each turn leads to the request that it ran in.
    expect([turn1, turn2, turn3].map(linksOf)).toEqual([[], [idOf(http2)], [idOf(http3)]]);
    expect(turn2.links[0]?.context.traceId).toBe(traceOf(http2));
    expect(turn2.parentSpanContext).toMatchObject({ isRemote: true, spanId: idOf(turn1) });
  });

  test('reports IDs and kinds of the steps of its turns', async () => {
    const { traced, one, other } = processes();
    const first = suspended(await coreOf(one).start('order', {}, {}, { method: 'tools/call' }));
    const second = suspended(await other.resume(first.token, [accept('sure', { sure: 'yes' })]));
    await one.resume(second.token, [say('thanks', 'Thanks!')]);
    const turns = [0, 1, 2].map((nth) => traced.span('saga order', nth));
    const always = {
      'saga.name': 'order',
      'saga.version': '3',
      'saga.id': first.sagaId,
      'saga.method': 'tools/call',
    };
    expect(turns.map(({ attributes }) => attributes)).toEqual([
      {
        ...always,
        'saga.turn': 1,
        'saga.action': 'start',
        'saga.outcome': 'suspended',
        'saga.token.bytes': first.token.length,
      },
      {
        ...always,
        'saga.turn': 2,
        'saga.action': 'resume',
        'saga.outcome': 'suspended',
        'saga.token.bytes': second.token.length,
      },
      { ...always, 'saga.turn': 3, 'saga.action': 'resume', 'saga.outcome': 'completed' },
    ]);
    expect(turns.map(eventsOf)).toEqual([
      [['saga.suspended', { 'saga.step.ids': ['sure'], 'saga.step.kinds': ['elicitation'] }]],
      [
        ['saga.step.answered', { 'saga.step.id': 'sure', 'saga.step.kind': 'elicit' }],
        ['saga.suspended', { 'saga.step.ids': ['thanks'], 'saga.step.kinds': ['sampling'] }],
      ],
      [['saga.step.answered', { 'saga.step.id': 'thanks', 'saga.step.kind': 'sample' }]],
    ]);
    const attempts = [0, 1].map((nth) => traced.span('step stock', nth));
    expect(attempts.map(({ attributes, status }) => [attributes, status.code])).toEqual([
      [
        {
          'saga.step.id': 'stock',
          'saga.step.kind': 'step',
          'saga.step.attempt': 1,
          'error.type': 'ECONNRESET',
        },
        SpanStatusCode.ERROR,
      ],
      [
        { 'saga.step.id': 'stock', 'saga.step.kind': 'step', 'saga.step.attempt': 2 },
        SpanStatusCode.UNSET,
      ],
    ]);
  });

  test('reports undone steps, and a failure without the thrown error', async () => {
    const { traced, one, other } = processes();
    const first = suspended(await one.start('order', {}));
    const second = suspended(await other.resume(first.token, [accept('sure', { sure: 'no' })]));
    await one.resume(second.token, [say('thanks', 'Thanks!')]);
    const failed = traced.span('saga order', 2);
    expect(failed.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(failed.attributes).toMatchObject({ 'saga.outcome': 'failed', 'error.type': 'Error' });
    const undo = traced.span('undo charge');
    expect(undo.parentSpanContext?.spanId).toBe(idOf(failed));
    expect(undo.attributes).toEqual({
      'saga.step.id': 'charge',
      'saga.step.kind': 'undo',
      'saga.step.attempt': 1,
    });
    expect(traced.span('POST /refunds').parentSpanContext?.spanId).toBe(idOf(undo));
  });

  test('is not a failure if the user refused', async () => {
    const { traced, one, other } = processes();
    const { token } = suspended(await one.start('order', {}));
    await other.resume(token, [{ stepId: 'sure', result: { action: 'decline' } }]);
    const { status, attributes } = traced.span('saga order', 1);
    expect(status.code).toBe(SpanStatusCode.UNSET);
    expect(attributes).toMatchObject({
      'saga.outcome': 'failed',
      'error.type': 'elicitation_refused',
    });
  });

  test('stays one trace if a process in between has no telemetry', async () => {
    const { traced, one, other } = processes();
    const first = suspended(await one.start('order', {}));
    const silent = hostOf([order(tracing())], {
      testing: { sleep: async () => undefined, clock: ticking() },
    });
    const second = suspended(await silent.resume(first.token, [accept('sure', { sure: 'yes' })]));
    await other.resume(second.token, [say('thanks', 'Thanks!')]);
    const begun = traced.span('saga order');
    const last = traced.span('saga order', 1);
    expect(last.attributes['saga.turn']).toBe(3);
    expect(last.parentSpanContext?.spanId).toBe(idOf(begun));
    expect(traceOf(last)).toBe(traceOf(begun));
  });

  test('is sampled like its first turn, whatever the sampling of the next request', async () => {
    const { traced, one, other } = processes();
    const unsampled = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 };
    const { token } = suspended(
      await context.with(trace.setSpanContext(context.active(), unsampled), () =>
        one.start('order', {}),
      ),
    );
    await inRequest(traced.provider.getTracer('http'), 'POST /mcp 2', () =>
      other.resume(token, [accept('sure', { sure: 'yes' })]),
    );
    // Nothing of the saga was recorded; what stands alone is the other request.
    expect(traced.tree()).toBe('POST /mcp 2');
    expect((await one.inspect(token)).trace).toMatch(/^00-a{32}-[\da-f]{16}-00$/);
  });
});

describe('a request without a turn', () => {
  test('[T5] is a separate span, with the reason and nothing of the token', async () => {
    const { traced, one } = processes();
    const http = traced.provider.getTracer('http');
    const { token } = suspended(await one.start('order', {}));
    const changed = alterEnd(token);
    await expect(inRequest(http, 'POST /mcp', () => one.resume(changed))).rejects.toThrow(
      'Invalid or expired',
    );
    const refused = traced.span('saga refused');
    expect(refused.attributes).toEqual({ 'error.type': 'undecryptable' });
    expect(refused.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(refused.parentSpanContext?.spanId).toBe(idOf(traced.span('POST /mcp')));
  });

  test('[T5] shares spans with many other rejections', async () => {
    const { traced } = processes();
    let now = 1_760_000_000_000;
    const host = hostOf([order(traced)], {
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
      testing: { clock: () => now },
    });
    const refused = async (): Promise<void> => {
      await expect(host.resume('nonsense')).rejects.toThrow('Invalid or expired');
    };
    await Promise.all(Array.from({ length: 25 }, refused));
    expect(traced.spans()).toHaveLength(10);
    now += 1000;
    await refused();
    expect(traced.spans().at(-1)?.attributes).toEqual({
      'error.type': 'malformed',
      'saga.suppressed': 15,
    });
  });

  test('[T13] is a turn without steps if the guard stores the response', async () => {
    const traced = tracing();
    const { one } = guardedOrder(traced);
    const { token } = suspended(await one.start('order', {}));
    const answer = [{ stepId: 'sure', result: { action: 'decline' as const } }];
    await one.resume(token, answer);
    await one.resume(token, answer);
    // The response came from two turns: the failure is stored before the undo.
    const repeated = traced.span('saga order', 3);
    expect(repeated.attributes).toMatchObject({ 'saga.turn': 2, 'saga.action': 'repeat' });
    expect(traceOf(repeated)).toBe(traceOf(traced.span('saga order')));
    expect(traced.spans().filter(({ name }) => name.startsWith('undo'))).toHaveLength(1);
  });
});

function guardedOrder(traced: Tracing): { readonly one: SagaHost } {
  const program = { ...order(traced), reuse: undefined };
  const clock = ticking();
  return {
    one: hostOf([program], {
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
      store: memoryStore({ clock }),
      testing: { sleep: async () => undefined, clock },
    }),
  };
}
