import type { Readable, Writable } from 'node:stream';
import type { Supervisor } from './supervisor.ts';

/** Input and output of a command. */
export interface CommandIo {
  readonly input: Readable;
  readonly output: Writable;
  /** Prints the result, or a part of it. */
  readonly print: (text: string) => void;
  /** Shows a line that is no part of the result: progress, or advice. */
  readonly note: (text: string) => void;
  /** `true` if a person can be asked: input and output are terminals. */
  readonly isInteractive: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts with Ctrl-C. */
  readonly signal: AbortSignal;
  /** Starts another process if this one is killed. Undefined: nobody does. */
  readonly supervisor?: Supervisor;
}

/** Result of a command. */
export interface Report {
  /** For people. */
  readonly text: string;
  /**
   * `true` for text that is copied, such as a key or the result of a tool: a terminal shows it without
   * wrapped lines and colors. @default false
   */
  readonly isAsIs?: boolean;
  /** For programs: printed instead with `--json`. */
  readonly json: object;
  /** `false` if the answer of the command is no: exit code 1. @default true */
  readonly ok?: boolean;
  /** Exit code for no: 2 for wrong options. @default 1 */
  readonly exitCode?: 1 | 2;
}

/** Option of a command, with its help. */
export interface CommandOption {
  readonly short?: string;
  readonly multiple?: boolean;
  readonly help: string;
  /** `true` if the option names a module of the user, whose code the command runs. */
  readonly runsUserCode?: boolean;
  /** Placeholder of the value in the help. An option without a value is a boolean. */
  readonly value?: string;
}

/** Options of a command, by name. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** Values of the options of a command. */
export type ValuesOf<O extends CommandOptions> = {
  readonly [Name in keyof O]: O[Name] extends { readonly value: string }
    ? O[Name] extends { readonly multiple: true }
      ? readonly string[] | undefined
      : string | undefined
    : boolean | undefined;
};

/** Command in the help. Its code is loaded when it is named. */
export interface ListedCommand {
  /** One word, or two: `keys new`. */
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** Command of the command line. */
export interface Command<O extends CommandOptions = CommandOptions> {
  /** Names of the arguments; a name that ends with `?` is optional. */
  readonly parameters: readonly string[];
  readonly options: O;
  readonly example: string;
  /**
   * `true` if every run of the command loads code of the user, which may never end, so that nothing
   * else gets its turn in this process. An option can declare the same. @default false
   */
  readonly runsUserCode?: boolean;
  /**
   * Declares that the command handles Ctrl-C itself: if its signal aborts, it closes what it has
   * opened, within this time (ms). Without it, Ctrl-C rejects the command at once.
   */
  readonly closesWithinMs?: number;
  /**
   * `true` if the command ends only by Ctrl-C, or because it cannot start. It prints each event on
   * a line of its own, and reports errors that user code throws outside of a request, because it
   * must outlive them. @default false
   */
  readonly servesUntilInterrupted?: boolean;
  readonly run: (
    values: ValuesOf<O> & { readonly json?: boolean },
    parameters: readonly string[],
    io: CommandIo,
  ) => Promise<Report>;
}

/** Types the values of a command by its options. */
export function defineCommand<const O extends CommandOptions>(command: Command<O>): Command {
  return command as unknown as Command;
}
