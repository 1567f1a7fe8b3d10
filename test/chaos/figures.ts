import type { Chaos } from './chaos.ts';
import { closedConnections } from './judge.ts';
import { purchaseIn } from './user.ts';

/** Formats the figures of a run as a table. */
export function toTable({
  problems,
  calls,
  crowd,
  monkey,
  proxy,
  provider,
  ledger,
  early,
  deliveries,
  outside,
  rejected,
}: Chaos): string {
  const sum = (rows: readonly { readonly asked: number }[]): number =>
    rows.reduce((total, { asked }) => total + asked, 0);
  const left = [...new Map(deliveries.map((report) => [report.sagaId, report.status])).values()];
  const count = (status: string): number => left.filter((one) => one === status).length;
  const { effects, undos } = ledger;
  const { closed, undone } = closedConnections(calls, early);
  const cuts = proxy['cut before'] + proxy['cut during'] + proxy['cut after'];
  const endings = ['calls', 'completed', 'failed', 'refused', 'vanished', 'unfinished'] as const;
  const total = (ending: (typeof endings)[number]): number =>
    crowd.dialects.reduce((all, dialect) => all + dialect[ending], 0);
  return [
    row(['', ...endings]),
    ...crowd.dialects.map((dialect) =>
      row([dialect.dialect, ...endings.map((ending) => dialect[ending])]),
    ),
    row(['all', ...endings.map(total)]),
    '',
    `processes   ${monkey.kills} servers killed and restarted, ${monkey.deployed} with the new release; ${monkey.rotations} rotations of keys`,
    `services    provider killed ${monkey.providerKills} times, out of order ${monkey.outages} times; database killed ${monkey.databaseCrashes} times, stopped ${monkey.databasePauses} times`,
    `named       ${namedTurns({ calls, ledger })} purchases by their interrupted turn`,
    `requests    ${proxy.requests}: ${cuts} cut, ${proxy.delay} delayed, ${proxy.reorder} overtaken, ${
      proxy.duplicate + proxy['duplicate late']
    } duplicated, ${proxy['no answer']} met a process that died; ${crowd.restarts} calls made anew`,
    `polls       ${proxy.polls} requests without answers, ${proxy['copied poll']} copied late`,
    `closed      ${closed} connections while a user was asked: ${undone} sagas undone before the queue came`,
    `provider    asked ${sum(effects)} times, ${effects.length} effects; asked ${sum(undos)} times, ${undos.length} undos; ${provider.late} answers late, ${provider.dropped} lost, ${provider.failed} errors`,
    `left behind ${left.length} in the queue, with ${deliveries.length} deliveries: ${count('ended')} ended, ${count('outdated')} had gone on`,
    ...outsideRows(outside, ledger),
    `rejected    ${Object.entries(rejected)
      .map(([reason, times]) => `${reason} ${times}`)
      .join(', ')}`,
    ...refusals(calls),
    `latency     p50 ${crowd.latency.p50} ms, p99 ${crowd.latency.p99} ms, with the time that users think`,
    `wrong       ${problems.length}`,
  ].join('\n');
}

/** Rows about answers of people and other systems to sagas whose client has disconnected. */
function outsideRows(
  { visitors, messages, answers }: Chaos['outside'],
  { notes, settled }: Chaos['ledger'],
): readonly string[] {
  const sent = (kind: string): number => notes.filter((note) => note.kind === kind).length;
  const decided = (result: string): number => notes.filter((note) => note.result === result).length;
  const told = (...kinds: readonly string[]): number =>
    answers.filter((one) => kinds.includes(one.told)).length;
  const sagas = new Set(notes.map(({ purchase }) => purchase));
  const ended = [...sagas].filter((purchase) =>
    settled.includes(purchase.split(':')[1] ?? ''),
  ).length;
  return [
    `left to     ${sagas.size} sagas by ${visitors.started} calls, ${visitors.left} of which left for good: ${ended} ended; ${decided('approved')} approved, ${decided('denied')} denied, ${decided('timeout')} without an answer`,
    `people      ${sent('link')} links, ${sent('reminder')} reminders, ${sent('webhook')} webhooks; ${answers.length} answers: ${told('approved', 'denied', 'paid')} told as recorded, ${told('nothing recorded')} too late, ${told('refused')} refused`,
    `messages    ${messages.twice} twice, ${messages.late} late, ${messages.early} early, ${messages.old} of turns that were over`,
  ];
}

/** The number of purchases whose uncompensated steps include a whole interrupted turn. */
function namedTurns({ calls, ledger }: Pick<Chaos, 'calls' | 'ledger'>): number {
  const told = calls
    .filter(({ text }) => /'turn \d+'/.test(text))
    .map(({ text }) => `turn ${purchaseIn(text)}`);
  const named = ledger.uncompensated.filter((label) => label.startsWith('turn '));
  return new Set([...named, ...told]).size;
}

/** Reasons for rejected calls, with their counts. */
function refusals(calls: Chaos['calls']): readonly string[] {
  const refused = calls.filter(({ ending }) => ending === 'refused');
  const reasons = new Set(refused.map(({ dialect, text }) => `${dialect}, ${text}`));
  return [...reasons].map(
    (reason) =>
      `refused     ${refused.filter(({ dialect, text }) => `${dialect}, ${text}` === reason).length} by ${reason}`,
  );
}

/** Lists all evidence about the purchase in a problem. */
export function toStory(problem: string, { calls, deliveries, ledger, outside }: Chaos): string {
  const name = purchaseIn(problem);
  if (name === undefined) return '';
  const [, sagaId] = name.split(':');
  const lines: readonly object[] = [
    ...ledger.effects.filter(({ purchase }) => purchase === name),
    ...ledger.undos.filter(({ purchase }) => purchase === name),
    ...ledger.notes.filter(({ purchase }) => purchase === name),
    ...outside.answers.filter(({ purchase }) => purchase === name),
    ...calls.filter(({ asked, text }) => asked.includes(name) || text.includes(name)),
    ...deliveries.filter((report) => report.sagaId === sagaId),
  ];
  return lines.map((line) => `  ${JSON.stringify(line)}`).join('\n');
}

function row([first = '', ...rest]: readonly (string | number)[]): string {
  return `${String(first).padEnd(20)}${rest.map((cell) => String(cell).padStart(11)).join('')}`;
}
