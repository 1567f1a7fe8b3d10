import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { median, type Effort } from '../harness.ts';
import { hasDatabase, startDatabase, storeNames, type StoreName } from '../load/databases.ts';
import { pollingMs } from '../load/polling.ts';
import { bundleServer, forkFile } from '../load/server-process.ts';
import type { Finding, Row } from '../row.ts';

interface Message {
  readonly link?: string;
}

/**
 * Wall-clock time from the POST of an answer to the next effect of a saga whose client has
 * disconnected. The peer is the time from a POST to the delivery of a message by the same queue,
 * after the same number of bare database round trips. The rest is checking the answer, opening and
 * sealing tokens, and the turn. The goal is 1.5 times the peer if the database dominates, and 4
 * times the peer if the peer takes a few milliseconds.
 */
export const outside: Row = async ({ effort }) => {
  const file = await bundleServer('outside');
  const findings: Finding[] = [];
  try {
    for (const name of storeNames.filter(hasDatabase)) {
      findings.push(await findingWith(name, file, effort));
    }
  } finally {
    rmSync(dirname(file), { recursive: true, force: true });
  }
  return findings;
};

/** Medians of several sagas and messages, measured in sequence. */
async function findingWith(name: StoreName, file: string, { rounds }: Effort): Promise<Finding> {
  const database = await startDatabase(name);
  const child = forkFile(file, { environment: database.environment });
  const ended = once(child, 'exit');
  try {
    const { link: bare = '' } = await nextMessage(child);
    const answers: number[] = [];
    const messages: number[] = [];
    // The first rounds compile the code.
    for (let round = -Math.floor(rounds / 4); round < rounds; round += 1) {
      // pg-boss polls, so the pauses spread the answers evenly over the polling interval.
      const pause = name === 'postgres' && round >= 0 ? (pollingMs * (round + 0.5)) / rounds : 0;
      child.send('start');
      const { link = '' } = await nextMessage(child);
      const answer = await timeOf(child, link, pause);
      const message = await timeOf(child, bare, pause);
      if (round < 0) continue;
      answers.push(answer);
      messages.push(message);
    }
    const peers = [{ name: 'a bare message', value: median(messages) }];
    return { figure: `outside-${name}`, ours: median(answers), peers };
  } finally {
    child.disconnect();
    await ended;
    await database.close();
  }
}

/** Milliseconds from a POST to the effect. */
async function timeOf(child: ChildProcess, url: string, pause: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, pause));
  const effect = nextMessage(child);
  const start = performance.now();
  const posted = fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'approve' }) });
  await effect;
  const ms = performance.now() - start;
  const { status } = await posted;
  if (status !== 200) throw new Error(`The server answered ${status}`);
  return ms;
}

/** @throws Error if the server process has ended */
async function nextMessage(child: ChildProcess): Promise<Message> {
  const stop = new AbortController();
  const gone = once(child, 'exit', stop).then((): never => {
    throw new Error('The server process has ended');
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', stop), gone])) as [Message];
    return message;
  } finally {
    gone.catch(() => undefined);
    stop.abort();
  }
}
