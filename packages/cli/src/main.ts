import { parseArgs } from 'node:util';
import { didYouMean, nearestName, textForPeople } from '@mcp-saga/core/shared';
import { commandIn, commands, commonOptions } from './commands/commands.ts';
import type { Command, CommandIo, CommandOptions, Report, ValuesOf } from './model/command.ts';
import { CliError } from './model/errors.ts';
import { ownVersion } from './input/own-package.ts';
import type { TerminalLooks } from './terminal-text.ts';
import { usage, usageOf } from './usage.ts';

/** Input and output of the command line. */
export interface CommandLine extends Omit<CommandIo, 'note'> {
  /** Prints progress, advice, and errors. */
  readonly printError: (text: string) => void;
  /** How the streams show text. @default neither is a terminal */
  readonly looks?: {
    readonly output: TerminalLooks | undefined;
    readonly errors: TerminalLooks | undefined;
  };
}

/**
 * Runs the command line.
 * @returns the exit code: 0 for success, 1 for a failed tool, test, or check, 2 for wrong options,
 * 3 for a server that cannot be used, and 130 for Ctrl-C
 * @example
 * ```ts
 * const code = await main(['keys', 'new'], {
 *   input: process.stdin,
 *   output: process.stdout,
 *   isInteractive: false,
 *   environment: process.env,
 *   signal: new AbortController().signal,
 *   print: console.log,
 *   printError: console.error,
 * });
 * console.log(code);
 * ```
 */
export async function main(args: readonly string[], given: CommandLine): Promise<number> {
  if (args[0] === 'help') return await main([...args.slice(1), '--help'], given);
  const isJson = args.includes('--json');
  const line = await forPeople(given, isJson);
  const [first = '--help'] = args;
  const listed = commandIn(args);
  const isVersion = first === '--version' || first === '-v';
  const words = args.filter((arg) => arg !== 'help' && !arg.startsWith('-'));
  const isKnown = commands.some(({ name }) => `${name} `.startsWith([...words, ''].join(' ')));
  const isHelp = isKnown && [first, ...args].some((arg) => /^(?:--help|-h|help)$/.test(arg));
  if (isVersion || (listed === undefined && isHelp)) {
    line.print(isVersion ? ownVersion() : usage());
    return 0;
  }
  const command = await listed?.load();
  const help = listed === undefined || command === undefined ? usage() : usageOf(listed, command);
  try {
    if (listed === undefined || command === undefined)
      throw new CliError('usage', unknownCommand(words.length > 0 ? words : args));
    const parts = parsed(command, args.slice(listed.name.split(' ').length));
    const isHelped = parts.values['help'] !== undefined;
    const report = isHelped ? { text: help, json: { help } } : await run(command, parts, line);
    if (isJson) line.printAsIs(JSON.stringify(report.json, undefined, 2));
    else if (report.text !== '') (report.isAsIs ? line.printAsIs : line.print)(report.text);
    return report.ok === false ? (report.exitCode ?? 1) : 0;
  } catch (error) {
    const { servesUntilInterrupted = false } = command ?? {};
    const { aborted } = line.signal;
    // Ctrl-C is the usual end of a server, and no error.
    if (aborted && (servesUntilInterrupted || !isJson)) return 130;
    const { code, exitCode, message } = await described(
      aborted ? new CliError('stopped', 'Stopped.') : error,
    );
    // A server prints each event on one line, the error that ends it included.
    const indent = servesUntilInterrupted ? 0 : 2;
    if (isJson) line.printAsIs(JSON.stringify({ error: { code, message } }, undefined, indent));
    else line.fail(message, code === 'usage' ? help : '');
    return exitCode;
  }
}

/** Prints for people: no control characters, and in a terminal wrapped lines and colors. */
interface LineForPeople extends CommandLine {
  /** Prints what a person or a program copies. */
  readonly printAsIs: (text: string) => void;
  /** Prints an error, with the help if it is not empty. */
  readonly fail: (message: string, help: string) => void;
}

async function forPeople(given: CommandLine, isJson: boolean): Promise<LineForPeople> {
  const { output, errors } = given.looks ?? {};
  const isTerminal = output !== undefined || errors !== undefined;
  const shown = isTerminal ? await import('./terminal-text.ts') : undefined;
  const inLooks = (text: string, looks: TerminalLooks | undefined): string => {
    const safe = textForPeople(text);
    return looks === undefined ? safe : (shown?.shownInTerminal(safe, looks) ?? safe);
  };
  const printAsIs = (text: string): void => given.print(textForPeople(text));
  return {
    ...given,
    print: isJson ? printAsIs : (text) => given.print(inLooks(text, output)),
    printAsIs,
    printError: (text) => given.printError(inLooks(text, errors)),
    fail: (message, help) => {
      const safe = textForPeople(message);
      const plain = help === '' ? safe : `${safe}\n\n${help}`;
      given.printError(
        errors === undefined ? plain : (shown?.errorInTerminal(safe, help, errors) ?? plain),
      );
    },
  };
}

function unknownCommand([first = '', second = '']: readonly string[]): string {
  const names = commands.map(({ name }) => name);
  const given = names.some((name) => name.startsWith(`${first} `))
    ? `${first} ${second}`.trimEnd()
    : first;
  return `Unknown command '${given}'.${didYouMean(nearestName(given, names))}`;
}

async function run(
  command: Command,
  { values, positionals }: Given,
  line: CommandLine,
): Promise<Report> {
  const missing = command.parameters[positionals.length];
  if (missing?.endsWith('?') === false) throw new CliError('usage', `Missing: <${missing}>.`);
  const extra = positionals[command.parameters.length];
  if (extra !== undefined) throw new CliError('usage', `Unexpected argument '${extra}'.`);
  return await new Promise((resolve, reject) => {
    // Code of the user may reject a promise without a handler. A server reports the error itself,
    // and continues.
    if (command.servesUntilInterrupted !== true) process.on('uncaughtException', reject);
    if (command.closesWithinMs === undefined) line.signal.addEventListener('abort', reject);
    const end = (): unknown => process.off('uncaughtException', reject);
    command
      .run(values, positionals, { ...line, note: line.printError })
      .finally(end)
      .then(resolve, reject);
  });
}

/** Options and arguments of a command. */
interface Given {
  readonly values: ValuesOf<CommandOptions>;
  readonly positionals: readonly string[];
}

function parsed(command: Command, args: readonly string[]): Given {
  const given = Object.entries({ ...command.options, ...commonOptions });
  const typed = given.map(
    ([name, option]) => [name, { ...option, type: option.value ? 'string' : 'boolean' }] as const,
  );
  const config = { args: [...args], options: Object.fromEntries(typed), allowPositionals: true };
  try {
    const { values, positionals } = parseArgs(config);
    return { values: values as ValuesOf<CommandOptions>, positionals };
  } catch (error) {
    const { message } = error as Error;
    const [unknown, option = ''] = /^Unknown option '(.+?)'/.exec(message) ?? [];
    const names = given.map(([name]) => `--${name}`);
    const advice = `${unknown}.${didYouMean(nearestName(option, names))}`;
    throw new CliError('usage', unknown === undefined ? message : advice, { cause: error });
  }
}

async function described(
  error: unknown,
): Promise<Pick<CliError, 'message' | 'exitCode'> & { readonly code: string }> {
  if (error instanceof CliError) return error;
  const given = Object(error) as Partial<Error> & {
    readonly code: string;
    readonly reason?: string;
  };
  const { name, code, reason = '', message: thrown = String(error) } = given;
  // The server names the refused argument.
  const message = thrown.replace(/^tools\/callSaga failed: (.*) \(-32602\)$/s, '$1');
  // The classes may be of another copy. The message never quotes a key.
  const problem = message.replace(/node -p "[^"]*"/, 'mcp-saga keys new');
  if (name === 'SealError' && code === 'keys')
    return new CliError('no_keys', `The keys cannot be used: ${problem}`);
  if (name === 'TokenRefused') {
    const { whyNotOpened } = await import('./input/inspecting-host.ts');
    return new CliError('token_refused', whyNotOpened(reason));
  }
  if (/^(?:ERR_)?MODULE_NOT_FOUND$/.test(code)) return new CliError('no_file', message);
  if (name === 'CreateError' && code === 'invalid_option') return new CliError('usage', message);
  // Only a command that calls a server has loaded these packages.
  const { SagaClientError } = await import('@mcp-saga/client');
  if (error instanceof SagaClientError || name === 'CreateError')
    return { code, message, exitCode: 1 };
  const { ProtocolError, SdkError } = await import('@modelcontextprotocol/client');
  if (error instanceof ProtocolError || error instanceof SdkError)
    return {
      code: 'request_failed',
      message: `The server answers with an error: ${message}`,
      exitCode: 1,
    };
  // Other errors may have codes that are not stable.
  return { code: 'failed', message, exitCode: 1 };
}
