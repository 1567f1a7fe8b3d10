import { elicit, saga, type SagaCaller, type SagaHost } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { openTelemetry, type OpenTelemetryOptions } from '@mcp-saga/opentelemetry';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { context, INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { accept, hostOf, keys, suspended } from './support/sagas.ts';
import { idOf, linksOf, manageContext, traceOf, tracing, type Tracing } from './support/tracing.ts';

let stop: () => void;
beforeAll(() => {
  stop = manageContext();
});
afterAll(() => stop());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

const asking = saga({ name: 'asking', version: '1' }, function* () {
  yield* elicit('go', { message: 'Go?', schema: z.object({}) });
  return 'gone';
});

function hostWith(traced: Tracing, options: OpenTelemetryOptions = {}): SagaHost {
  return hostOf([asking], {
    telemetry: openTelemetry({ tracerProvider: traced.provider, ...options }),
  });
}

const fromClient: SagaCaller = { traceContext: { traceparent, tracestate: 'vendor=1' } };

test('an invalid span of a request is not linked', async () => {
  const traced = tracing();
  const host = hostWith(traced);
  const none = trace.setSpanContext(context.active(), INVALID_SPAN_CONTEXT);
  const { token } = suspended(await context.with(none, () => host.start('asking', {})));
  await context.with(none, () => host.resume(token, [accept('go')]));
  expect(traced.tree()).toBe('saga asking\n  saga asking');
  expect(linksOf(traced.span('saga asking', 1))).toEqual([]);
});

describe('the trace context that a client sends', () => {
  test('is linked, and does not affect sampling', async () => {
    const traced = tracing();
    const host = hostWith(traced);
    const { token } = suspended(await host.start('asking', {}, { caller: fromClient }));
    await host.resume(token, [accept('go')], { caller: fromClient });
    for (const nth of [0, 1]) {
      const turn = traced.span('saga asking', nth);
      expect(traceOf(turn)).not.toBe(traceId);
      expect(linksOf(turn)).toEqual([spanId]);
    }
  });

  test("[T2] is the parent with clientContext: 'parent', with its tracestate, over all turns", async () => {
    const traced = tracing();
    const host = hostWith(traced, { clientContext: 'parent' });
    const { token } = suspended(await host.start('asking', {}, { caller: fromClient }));
    await host.resume(token, [accept('go')]);
    const one = traced.span('saga asking');
    const two = traced.span('saga asking', 1);
    expect(one.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true });
    expect(linksOf(one)).toEqual([]);
    expect(two.parentSpanContext).toMatchObject({ traceId, spanId: idOf(one) });
    expect(two.spanContext().traceState?.serialize()).toBe('vendor=1');
    expect((await host.inspect(token)).trace).toBe(`00-${traceId}-${idOf(one)}-01 vendor=1`);
  });

  test('is linked, and not the parent, in a request that is already traced', async () => {
    const traced = tracing();
    const host = hostWith(traced, { clientContext: 'parent' });
    const http = traced.provider.getTracer('http');
    await http.startActiveSpan('POST /mcp', async (span) => {
      await host.start('asking', {}, { caller: fromClient });
      span.end();
    });
    const turn = traced.span('saga asking');
    expect(turn.parentSpanContext?.spanId).toBe(idOf(traced.span('POST /mcp')));
    expect(linksOf(turn)).toEqual([spanId]);
  });

  test('is not linked if the active span already descends from it', async () => {
    const traced = tracing();
    const host = hostWith(traced);
    await traced.provider.getTracer('http').startActiveSpan('POST /mcp', async (span) => {
      const before = `00-${span.spanContext().traceId}-${spanId}-01`;
      await host.start('asking', {}, { caller: { traceContext: { traceparent: before } } });
      span.end();
    });
    expect(linksOf(traced.span('saga asking'))).toEqual([]);
  });

  test("is ignored with clientContext: 'ignore'", async () => {
    const traced = tracing();
    const host = hostWith(traced, { clientContext: 'ignore' });
    await host.start('asking', {}, { caller: fromClient });
    expect(traced.span('saga asking').links).toEqual([]);
  });

  test.each(['link', 'parent', 'ignore'] as const)(
    'is ignored if W3C Trace Context does not allow the value: %s',
    async (clientContext) => {
      const traced = tracing();
      const host = hostWith(traced, { clientContext });
      const odd = { traceparent: `${traceparent}\nsecret`, tracestate: 'secret' };
      await host.start('asking', {}, { caller: { traceContext: odd } });
      const turn = traced.span('saga asking');
      expect(turn.links).toEqual([]);
      expect(turn.parentSpanContext).toBeUndefined();
    },
  );

  test('rejects an unknown value of `clientContext`', () => {
    expect(() => openTelemetry({ clientContext: 'accept' as never })).toThrow(
      "clientContext must be 'link', 'parent', or 'ignore'.",
    );
  });
});

describe('[W1] a client finds its trace in the _meta of its requests', () => {
  test('SDK v2 propagates the trace over HTTP', async () => {
    const traced = tracing();
    const server = serveSagas({
      name: 'shop',
      version: '1',
      keys,
      sagas: [asking],
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
    });
    for (const meta of [{ traceparent, tracestate: 'vendor=1' }, { traceparent: 7 }, {}]) {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/callSaga',
      };
      const params = {
        name: 'asking',
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          ...meta,
        },
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/callSaga', params });
      const response = await server.fetch(
        new Request('http://localhost/mcp', { method: 'POST', headers, body }),
      );
      expect(await response.text()).toContain('"state":"suspended"');
    }
    expect([0, 1, 2].map((nth) => linksOf(traced.span('saga asking', nth)))).toEqual([
      [spanId],
      [],
      [],
    ]);
  });

  test('SDK v1 propagates the trace in a session', async () => {
    const traced = tracing();
    const host = hostWith(traced);
    const server = new ServerV1({ name: 'shop', version: '1' });
    host.attach(server);
    const client = new ClientV1({ name: 'c', version: '1' });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(there), client.connect(here)]);
    await client.callTool({ name: 'asking', arguments: {}, _meta: { traceparent } });
    expect(linksOf(traced.span('saga asking'))).toEqual([spanId]);
    await client.close();
  });
});
