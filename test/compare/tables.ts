import type { Contender } from './contender.ts';
import type { Fault, Outcome } from './scenario.ts';

/** The faults, in the order of the table. */
export const faults: readonly { readonly fault: Fault; readonly title: string }[] = [
  { fault: 'response', title: 'response lost' },
  { fault: 'responseAndProcess', title: 'response lost, process restarted' },
  { fault: 'process', title: 'process dies after the refund' },
];

/** What came of a contender. */
export interface Row {
  readonly contender: Pick<Contender, 'name' | 'authorWrote' | 'packages' | 'hasKey'>;
  /** One for each fault that was played. */
  readonly outcomes: readonly Outcome[];
  /** Reason why not all faults were played. */
  readonly notRun?: string;
}

/** Writes two Markdown tables: the tools, and what happened. Names the contenders without a row. */
export function toTables(rows: readonly Row[]): string {
  const run = rows.filter(({ notRun }) => notRun === undefined);
  const tools = run.map(({ contender: { name, hasKey, authorWrote, packages = [] } }) => [
    name,
    hasKey ? 'yes' : 'no',
    authorWrote,
    packages.map((one) => `\`${one}\``).join(', ') || 'of this repository',
  ]);
  const happened = run.map(({ contender, outcomes }) => [contender.name, ...outcomes.map(cellOf)]);
  const missing = rows.flatMap(({ contender, notRun }) =>
    notRun === undefined ? [] : [`- ${contender.name} was not run: ${notRun}`],
  );
  return [
    table(['tool', 'the client sends a key', 'the author added', 'packages'], tools),
    table(['tool', ...faults.map(({ title }) => title)], happened),
    ...(missing.length === 0 ? [] : [missing.join('\n')]),
  ].join('\n\n');
}

// Shorter times are those of the machine.
const noticeable = 5;

function cellOf({ requests, refunds, answers, seconds }: Outcome): string {
  const made = refunds === 1 ? '1' : `**${refunds}**`;
  const wait = seconds < noticeable ? '' : `, after ${Math.round(seconds)} s`;
  return `${requests} / ${made}, ${saidBy(answers)}${wait}`;
}

/** What the second call got: the ID of a refund, or the first sentence of its last error. */
function saidBy(answers: readonly string[]): string {
  const last = answers.at(-1) ?? '';
  const id = /\bre_\d+\b/.exec(last)?.[0];
  return id === undefined ? `"${last.replace(/\. .*$/s, '.')}"` : `\`${id}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
