import { factsOf } from './facts.ts';
import type { Host } from './host.ts';
import type { Played } from './play.ts';
import type { Scenario } from './scenarios.ts';

/** Outcome of all scenarios on a host. */
export interface HostReport {
  readonly host: Host;
  /** Reason why the host was not run; undefined if it was. */
  readonly notRun?: string;
  readonly played: readonly Played[];
}

/** Writes two Markdown tables: the hosts, and how each scenario ended. */
export function toTables(reports: readonly HostReport[], scenarios: readonly Scenario[]): string {
  const run = reports.filter(({ notRun }) => notRun === undefined);
  const clients = run.map(({ host, played }) => {
    const facts = factsOf(played.flatMap(({ frames }) => frames));
    const [named = ''] = host.packages;
    return [
      host.title,
      `\`${named}\``,
      facts.revision,
      facts.declared.join(', '),
      facts.dialects.join(', '),
      facts.callFields.map((field) => `\`${field}\``).join(', ') || 'nothing',
    ];
  });
  const sagas = run.map(({ host, played }) => [
    host.title,
    ...scenarios.map((scenario) => cellOf(played.find((one) => one.scenario === scenario))),
  ]);
  const missing = reports.flatMap(({ host, notRun }) =>
    notRun === undefined ? [] : [`- ${host.title} was not run: ${notRun}`],
  );
  return [
    table(['host', 'package', 'MCP', 'declares', 'served by', 'names a call by'], clients),
    table(['host', ...scenarios.map(({ title }) => title)], sagas),
    ...(missing.length === 0 ? [] : [missing.join('\n')]),
  ].join('\n\n');
}

function cellOf(played: Played | undefined): string {
  if (played === undefined) return 'not run';
  const { problem, remark } = played;
  if (problem !== undefined) return `**no**: ${problem}`;
  return remark === undefined ? 'yes' : `yes (${remark})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
