/** `pnpm start`: two processes that share only a key serve one saga by turns. */
import { parseArgs } from 'node:util';
import { type Answering, answerByScript, isRefusal } from './answering.ts';
import { askPerson, RunLeft } from 'mcp-saga/terminal';
import { runInTurns } from './run-in-turns.ts';
import { createShow } from './show.ts';

const usage = `Runs the quickstart saga on two server processes by turns.

  pnpm start [--yes]

  -y, --yes    answer by script; also without a terminal
  -h, --help   show this`;

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`${options}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const { stdin: input, stdout: output } = process;
  // Some terminals, such as serial lines, have no size.
  if (output.columns === 0) output.columns = 80;
  const stopped = new AbortController();
  let status: number | undefined;
  const stop = (code: number): void => {
    status ??= code;
    stopped.abort();
  };
  for (const [signal, code] of Object.entries(signals)) process.on(signal, () => stop(code));
  // The reader has gone, as with `pnpm start | head`.
  output.on('error', () => stop(141));
  const { signal } = stopped;
  const show = createShow(output);
  const byScript = options.yes || !input.isTTY || !output.isTTY;
  const answer = byScript
    ? show.scripted(answerByScript)
    : askPerson({ input, output, signal }, 'Yes, a week is too long.');
  try {
    let isRefused = false;
    const watched: Answering = async (step) => {
      const completed = await answer(step);
      isRefused ||= isRefusal(completed);
      return completed;
    };
    const result = await runInTurns({ answer: watched, show, signal });
    // A refusal is an answer like any other: the run succeeded.
    return result.isError === true && !isRefused ? 1 : 0;
  } catch (error) {
    if (!signal.aborted && !(error instanceof RunLeft)) {
      show.failed(error);
      return 1;
    }
    show.stopped();
    return status ?? signals.SIGINT;
  }
}

function readOptions(
  args: readonly string[],
): { readonly yes: boolean; readonly help: boolean } | string {
  try {
    // `pnpm start -- --yes` passes on the dashes.
    const { values } = parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: { yes: { type: 'boolean', short: 'y' }, help: { type: 'boolean', short: 'h' } },
    });
    return { yes: values.yes === true, help: values.help === true };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
