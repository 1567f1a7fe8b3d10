import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Listening } from './server/listening.ts';
import { serveSessions, version1, version2 } from './server/serve-sessions.ts';
import { serveStateless } from './server/serve-stateless.ts';
import { type Check, prepareSuite, runScenario } from './suite.ts';

const roundTrips = [
  'basic-elicitation',
  'basic-sampling',
  'basic-list-roots',
  'request-state',
  'multiple-input-requests',
  'multi-round',
  'missing-input-response',
  'non-tool-request',
  'result-type',
  'unsupported-methods',
  'tampered-state',
  'capability-check',
  'ignore-extra-params',
  'validate-input',
].map((name) => `input-required-result-${name}`);

const tasks = [
  'lifecycle',
  'capability-negotiation',
  'wire-fields',
  'request-state-removal',
  'mrtr-input',
  'request-headers',
  'dispatch-and-envelope',
  'status-notifications',
  'required-task-error',
  'mrtr-composition',
].map((name) => `tasks-${name}`);

const asking = [
  'tools-call-elicitation',
  'tools-call-sampling',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

/** Checks that the suite skips for every server: it has not been written for what they are about. */
const neverRun = new Set(['tasks-status-notifications']);

// Long enough for Node to be downloaded.
const startTimeout = 300_000;

/** What there is to fault in a check, if anything. */
function faultOf({ id, status, description, errorMessage, details }: Check): string | undefined {
  // The suite takes a failed tool's text for a good answer.
  if (details?.result?.isError === true)
    return `FAILED TOOL ${id}: ${JSON.stringify(details.result.content)}`;
  if (status === 'SUCCESS' || status === 'INFO' || (status === 'SKIPPED' && neverRun.has(id)))
    return undefined;
  return `${status} ${id}: ${errorMessage ?? description}`;
}

/** Expects that the suite finds nothing to fault, and has looked. */
async function expectConformance(scenario: string, url: string): Promise<void> {
  const { exitCode, checks, output } = await runScenario(scenario, url);
  const faults = checks.map(faultOf).filter((fault) => fault !== undefined);
  expect({ faults, exitCode, hasChecks: checks.length > 0 }, output).toEqual({
    faults: [],
    exitCode: 0,
    hasChecks: true,
  });
}

describe('the official conformance suite', () => {
  beforeAll(prepareSuite, startTimeout);

  describe('2026, stateless', () => {
    let server: Listening;
    beforeAll(async () => {
      server = await serveStateless();
    });
    afterAll(() => server.close());

    // It listens for less than a second at a time, so it has the machine to itself.
    it('finds that server-stateless conforms', () => expectConformance('server-stateless', server.url));

    it('finds that dns-rebinding-protection conforms', () =>
      expectConformance('dns-rebinding-protection', server.url));

    it.concurrent.each(roundTrips)('[W1] finds that %s conforms', (scenario) =>
      expectConformance(scenario, server.url),
    );

    it.concurrent.each(tasks)('[W1] finds that %s conforms', (scenario) =>
      expectConformance(scenario, server.url),
    );
  });

  describe.each([
    ['2', version2],
    ['1', version1],
  ] as const)('2025, sessions on version %s of the SDK', (_, start) => {
    let server: Listening;
    beforeAll(async () => {
      server = await serveSessions(start);
    });
    afterAll(() => server.close());

    it.concurrent.each(asking)('[W1] finds that %s conforms', (scenario) =>
      expectConformance(scenario, server.url),
    );
  });
});
