import {
  type CallToolResult,
  type CompletedStep,
  startSaga,
  SuspendedSaga,
} from '@mcp-saga/client';
import { generateKey } from '@mcp-saga/server';
import type { Answering } from './answering.ts';
import { connect, startServer, type ServerProcess } from '@mcp-saga/example-run-server';
import type { Show } from './show.ts';
import { TurnReports } from './turn-reports.ts';

/** How the saga is run. */
export interface RunOptions {
  /** Answers the questions of the saga. */
  readonly answer: Answering;
  readonly show: Show;
  /** Stops the run. */
  readonly signal: AbortSignal;
}

/** Runs the saga on two processes by turns. Both processes end with the run. */
export async function runInTurns({ answer, show, signal }: RunOptions): Promise<CallToolResult> {
  const reports = new TurnReports();
  show.began();
  const [a, b] = await startBoth(reports, signal);
  try {
    show.servers([a, b]);
    const clients = { a: await connect(a.url), b: await connect(b.url) };

    const call = { name: 'refund', arguments: { order: '1042' } };
    show.calling(a, call);
    let turn = await startSaga(clients.a, call, { signal });
    show.served(await reports.next(), turn);
    for (let request = 2; turn.status === 'suspended'; request += 1) {
      const answers: CompletedStep[] = [];
      // In sequence: a person answers one question at a time.
      for (const step of turn.saga.steps) answers.push(await answer(step));
      const [server, client] = request % 2 === 0 ? [b, clients.b] : [a, clients.a];
      show.resuming(server, request, answers);
      turn = await SuspendedSaga.from(client, turn.saga).resume(answers, { signal });
      show.served(await reports.next(), turn);
    }
    show.ended(turn.result);
    return turn.result;
  } finally {
    await Promise.all([a.stop(), b.stop()]);
  }
}

async function startBoth(
  reports: TurnReports,
  signal: AbortSignal,
): Promise<[ServerProcess, ServerProcess]> {
  const keys = generateKey();
  const folder = new URL('.', import.meta.url);
  const start = (name: string): Promise<ServerProcess> =>
    startServer(name, {
      folder,
      environment: { SAGA_KEYS: keys },
      signal,
      onLine: (line) => reports.hear(name, line),
    });
  const [a, b] = await Promise.allSettled([start('A'), start('B')]);
  if (a.status === 'fulfilled' && b.status === 'fulfilled') return [a.value, b.value];
  if (a.status === 'fulfilled') await a.value.stop();
  if (b.status === 'fulfilled') await b.value.stop();
  throw [a, b].find((started) => started.status === 'rejected')?.reason;
}
