import { openTelemetry } from '@mcp-saga/opentelemetry';
import { createNoopMeter, metrics, type Attributes } from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';

afterEach(() => metrics.disable());

test('[P2] requests that need a server of the SDK are counted by their reason', () => {
  const counted: (Attributes | undefined)[] = [];
  const telemetry = openTelemetry();
  // Without a provider, nothing is counted, and nothing fails.
  telemetry.servedBySdk?.('version');
  const meter = createNoopMeter();
  meter.createCounter = (name) => ({
    add: (_, attributes) => counted.push({ name, ...attributes }),
  });
  // It may be registered after the host was made.
  metrics.setGlobalMeterProvider({ getMeter: () => meter });
  telemetry.servedBySdk?.('version');
  telemetry.servedBySdk?.('method');
  expect(counted).toEqual(
    ['version', 'method'].map((reason) => ({ name: 'saga.requests.by_sdk', reason })),
  );
});
