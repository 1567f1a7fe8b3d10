import { PassThrough } from 'node:stream';
import { runBundles } from '../../../test/support/bundle-for-node.ts';
import { main, type CommandLine } from '../src/main.ts';

/** Arguments of Node that run the command line, after `bundlePackages`. */
export const bin: readonly string[] = [...runBundles, 'packages/cli/src/bin.ts'];

/** What a run of the command line printed. */
export interface Ran {
  readonly code: number;
  readonly printed: string;
  readonly errors: string;
}

/** Surroundings of a run. */
export interface RunOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Terminals as the streams. */
  readonly looks?: CommandLine['looks'];
  /** Gets each line of standard error. */
  readonly onNote?: (text: string) => void;
}

/** Runs the command line in this process, without a terminal. */
export async function run(
  args: readonly string[],
  {
    environment = {},
    input = '',
    signal = new AbortController().signal,
    looks,
    onNote,
  }: RunOptions = {},
): Promise<Ran> {
  const printed: string[] = [];
  const errors: string[] = [];
  const stdin = new PassThrough();
  stdin.end(input);
  const code = await main(args, {
    input: stdin,
    output: new PassThrough(),
    isInteractive: false,
    ...(looks === undefined ? {} : { looks }),
    environment,
    signal,
    print: (text) => printed.push(text),
    printError: (text) => {
      errors.push(text);
      onNote?.(text);
    },
  });
  return { code, printed: printed.join('\n'), errors: errors.join('\n') };
}

/** The path of a module of the tests. */
export function fixture(name: string): string {
  return new URL(`fixtures/${name}`, import.meta.url).pathname;
}
