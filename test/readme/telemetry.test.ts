import { readFileSync } from 'node:fs';
import type { StepAnswer, SuspendedTurn } from '@mcp-saga/server';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { happened } from './shop.ts';
import { host, loggedHost } from './telemetry.ts';
import { expectLogs } from '../support/logs.ts';
import { rejectionLog } from '../support/known-logs.ts';

const page = readFileSync(new URL('../../docs/operate/telemetry.md', import.meta.url), 'utf8');

/** What stands first in the rows of its tables, as code. */
const named = [...page.matchAll(/^\| `([\w.]+)`/gm)].map(([, name]) => String(name));

const answer = (
  stepId: string,
  content: { readonly [field: string]: string | boolean },
): StepAnswer[] => [{ stepId, result: { action: 'accept', content } }];

describe('the page on telemetry', () => {
  it('[T5] shows hooks that log events by IDs and numbers', async () => {
    happened.length = 0;
    const lines: { readonly [field: string]: unknown }[] = [];
    const logged = loggedHost((line) => lines.push(line));
    const { token, sagaId } = (await logged.start('buy', {})) as SuspendedTurn;
    await logged.resume(token, answer('sure', { sure: false }));
    await expect(logged.resume(`${token}x`)).rejects.toThrow('Invalid or expired');
    expect(lines).toEqual([
      {
        level: 'info',
        saga: 'buy',
        sagaId,
        turn: 1,
        status: 'suspended',
        tokenBytes: token.length,
      },
      // That it is to be undone is kept by the guard, before anything is.
      {
        level: 'info',
        saga: 'buy',
        sagaId,
        turn: 2,
        status: 'suspended',
        tokenBytes: expect.any(Number),
      },
      { level: 'warn', saga: 'buy', sagaId, turn: 3, status: 'failed', tokenBytes: 0 },
      {
        level: 'debug',
        sagaId,
        error: expect.objectContaining({ code: 'saga_aborted', message: 'You were not sure.' }),
      },
    ]);
  });

  it('[P2] shows a traced host, and lists all attributes of its spans', async () => {
    expectLogs(rejectionLog('malformed'));
    const exporter = new InMemorySpanExporter();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    onTestFinished(() => {
      context.disable();
      trace.disable();
    });
    const one = (await host.start('deploy', { service: 'web' })) as SuspendedTurn;
    const two = (await host.resume(
      one.token,
      answer('target', { target: 'production' }),
    )) as SuspendedTurn;
    const yes = {
      role: 'assistant',
      model: 'any',
      content: { type: 'text', text: 'Yes, all is green' },
    };
    await host.resume(two.token, [{ stepId: 'safety', result: yes }]);
    await expect(host.resume('nonsense')).rejects.toThrow('Invalid or expired');
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual([
      'saga deploy',
      'saga deploy',
      'step release',
      'saga deploy',
      'saga refused',
    ]);
    expect(new Set(spans.slice(0, 4).map((span) => span.spanContext().traceId)).size).toBe(1);
    const used = spans.flatMap(({ attributes, events }) => [
      ...Object.keys(attributes),
      ...events.flatMap((event) => [event.name, ...Object.keys(event.attributes ?? {})]),
    ]);
    // The event of what happens to a step has its type in its name.
    const unnamed = used.filter(
      (name) => !named.includes(name) && !name.startsWith('saga.step.answered'),
    );
    expect(unnamed).toEqual([]);
  });
});
