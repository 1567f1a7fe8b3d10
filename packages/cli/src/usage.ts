import type { Command, CommandOption, ListedCommand } from './model/command.ts';
import { commands, commonOptions } from './commands/commands.ts';

/** Returns the help of the command line. */
export function usage(): string {
  return [
    'Command line for multi-step MCP tools.',
    '',
    '  mcp-saga <command> [options]',
    '',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'mcp-saga <command> --help shows the options of a command. mcp-saga --version shows the version.',
    'Exit codes: 0 for success, 1 for a failed tool, test, or check, 2 for wrong options, 3 for a server that cannot be used, 130 for Ctrl-C.',
  ].join('\n');
}

/** Returns the help of a command. */
export function usageOf(
  { name, summary }: ListedCommand,
  { parameters, options, example }: Command,
): string {
  const given = parameters.map((parameter) => ` <${parameter}>`.replace(/<(.*)\?>/, '[$1]'));
  const rows = Object.entries({ ...options, ...commonOptions });
  return [
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    '',
    `  mcp-saga ${name}${given.join('')} [options]`,
    '',
    ...columns(rows.map(([option, flag]) => [nameOf(option, flag), flag.help])),
    '',
    `Example: ${example}`,
  ].join('\n');
}

function nameOf(option: string, { short, value }: CommandOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${option}${value === undefined ? '' : ` ${value}`}`;
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}
