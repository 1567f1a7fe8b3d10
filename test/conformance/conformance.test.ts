import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { neverRun, type NotPassed, withoutSessions } from './not-passed.ts';
import { listen } from './server/listening.ts';
import { serveOfficial } from './server/official.ts';
import { serveCompared } from './server/serve-compared.ts';
import { serveRouted } from './server/serve-routed.ts';
import { serveSessions, version1 } from './server/serve-sessions.ts';
import { serveStateless } from './server/serve-stateless.ts';
import { type Check, prepareSuite, type Report, runSuite } from './suite.ts';
import { expectLogs } from '../support/logs.ts';

expectLogs(
  /asks for (?:sampling|elicitation), which a client does not declare/,
  /cannot ask for (?:sampling|elicitation): the server keeps no session/,
  '401-or-403-over-http',
);

// Long enough for Node to be downloaded.
const startTimeout = 300_000;

type Serve = () => Promise<(request: Request) => Promise<Response>>;

/** The server, the specification, and the number of scenarios in the suite. */
const runs: readonly {
  readonly name: string;
  readonly serve: Serve;
  readonly version?: string;
  readonly scenarios: number;
  readonly notPassed: NotPassed;
}[] = [
  {
    name: 'each scenario at its own version, 2025 in sessions, with extensions',
    serve: serveRouted,
    scenarios: 65,
    notPassed: neverRun,
  },
  {
    name: '2026-07-28, stateless',
    serve: serveStateless,
    version: '2026-07-28',
    scenarios: 40,
    notPassed: {},
  },
  {
    name: '2025-11-25, stateless',
    serve: serveStateless,
    version: '2025-11-25',
    scenarios: 33,
    notPassed: withoutSessions,
  },
  {
    name: '2025-11-25, sessions on version 1 of the SDK',
    serve: async () => serveSessions(version1),
    version: '2025-11-25',
    scenarios: 33,
    notPassed: {},
  },
];

/** The fault of a check, if there is one. */
function faultOf({ id, status, description, errorMessage, details }: Check): string | undefined {
  // The suite takes a failed tool's text for a good answer, and asks for one in one scenario only.
  if (details?.result?.isError === true && id !== 'tools-call-error')
    return `FAILED TOOL ${id}: ${JSON.stringify(details.result.content)}`;
  if (status === 'SUCCESS' || status === 'INFO') return undefined;
  return `${status} ${id}: ${errorMessage ?? description}`;
}

// These say only that the messages had the form of the specification, which messages of a scenario
// that was skipped have too.
const formOnly = /^wire-schema/;

/**
 * The faults of each scenario that is not passed. A scenario without any successful check has found
 * out nothing.
 */
function notPassedIn({ scenarios }: Report): ReadonlyMap<string, readonly string[]> {
  const faults = [...scenarios].map(([name, checks]) => {
    const found = checks.map(faultOf).filter((fault) => fault !== undefined);
    const hasLooked = checks.some(({ id, status }) => status === 'SUCCESS' && !formOnly.test(id));
    return [name, hasLooked ? found : [...found, 'found out nothing']] as const;
  });
  return new Map(faults.filter(([, found]) => found.length > 0));
}

/** Runs the suite against what `serve` makes, on a port of its own. */
async function suiteOn(serve: Serve, version?: string): Promise<Report> {
  const server = await listen(await serve());
  onTestFinished(() => server.close());
  return await runSuite(server.url, version);
}

// One after the other: a scenario listens for less than a second at a time.
describe('the official conformance suite', () => {
  beforeAll(prepareSuite, startTimeout);

  it.each(runs.map((run) => [run.name, run] as const))(
    '[W1] passes all scenarios except the listed ones: %s',
    async (_, { serve, version, ...expected }) => {
      const report = await suiteOn(serve, version);
      const notPassed = notPassedIn(report);
      const unexpected = [...notPassed].filter(([name]) => !(name in expected.notPassed));
      expect(unexpected, report.output).toEqual([]);
      // A scenario that passes by now leaves the list.
      expect([...notPassed.keys()].toSorted()).toEqual(Object.keys(expected.notPassed).toSorted());
      expect(report.scenarios.size).toBe(expected.scenarios);
    },
  );

  it('[W1] passes the same with direct responses as by the SDK', async () => {
    const compared = await serveCompared();
    const report = await suiteOn(async () => compared.fetch, '2026-07-28');
    expect([...notPassedIn(report)], report.output).toEqual([]);
    expect(report.scenarios.size).toBe(40);
    expect(compared.count()).toBeGreaterThan(30);
  });

  it('lists no scenario for stateless servers that a server of the SDK alone passes', async () => {
    const notPassed = notPassedIn(await suiteOn(async () => serveOfficial(), '2025-11-25'));
    expect([...notPassed.keys()]).toEqual(expect.arrayContaining(Object.keys(withoutSessions)));
  });
});
