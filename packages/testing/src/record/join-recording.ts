import { assertTurn } from './assert-recording.ts';
import { SagaTestError } from '../values/errors.ts';
import type { RecordedTurn, TurnBeginning, TurnEvent, TurnsRecording } from './turns-recording.ts';

/**
 * Makes a recording from the turns of one saga, in any order. Drops turns that did not lead to the end, or to the last one if
 * there are several.
 *
 * @throws SagaTestError `script` if no turn ends the saga, or a turn on the way is missing
 */
export function joinRecording(turns: readonly RecordedTurn[]): TurnsRecording {
  for (const turn of turns) assertTurn(turn);
  const inTime = turns.toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  const last = inTime.findLast(({ end }) => end !== undefined);
  if (last?.end === undefined)
    throw new SagaTestError('script', 'None of these turns ends the saga: there is nothing to replay yet.');
  const chain = [last];
  for (let turn = last; turn.from !== undefined; chain.unshift(turn)) {
    const { from } = turn;
    const before = inTime.findLast((other) => other.to === from && !chain.includes(other));
    if (before === undefined)
      throw new SagaTestError(
        'script',
        `The turn before turn ${turn.turn} of '${turn.saga}' is not among these: they do not make a recording.`,
      );
    turn = before;
  }
  const [first = last] = chain;
  const { recording, saga, version, engine, input = {}, redacted } = first;
  return {
    recording,
    kind: 'turns',
    saga,
    version,
    engine,
    input,
    ...(redacted === undefined ? {} : { redacted }),
    turns: chain.map(({ time, host, ended }): TurnBeginning => {
      return { time, host, ...(ended === undefined ? {} : { ended }) };
    }),
    happened: chain.flatMap(({ happened }, index) =>
      happened.map((event): TurnEvent => ({ turn: index + 1, ...event })),
    ),
    end: last.end,
  };
}
