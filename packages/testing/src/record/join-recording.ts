import { SagaTestError } from '../values/errors.ts';
import { assertTurn } from './assert-recording.ts';
import type { RecordedEvent, RecordedTurn, Recording, TurnBeginning } from './recording.ts';

/**
 * Creates a recording from the turns of one saga, in any order. Drops turns without a path to the
 * last end. The last turn of a generator is enough.
 * @throws SagaTestError `script` if no turn ends the saga, or a turn on the way is missing
 * @example
 * ```ts
 * const turns: RecordedTurn[] = [];
 * recordSagas([], { onTurn: (turn) => turns.push(turn), redact: (value) => value });
 * const recording: Recording = joinRecording(turns);
 * ```
 */
export function joinRecording(turns: readonly RecordedTurn[]): Recording {
  for (const turn of turns) assertTurn(turn);
  const inTime = turns.toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  const last = inTime.findLast(({ end }) => end !== undefined);
  if (last?.end === undefined)
    throw new SagaTestError(
      'script',
      'joinRecording: none of these turns ends the saga. Wait for its end, or add the missing turns.',
    );
  const chain = [last];
  for (let turn = last; turn.from !== undefined; chain.unshift(turn)) {
    const { from } = turn;
    const before = inTime.findLast((other) => other.to === from && !chain.includes(other));
    if (before === undefined)
      throw new SagaTestError(
        'script',
        `joinRecording: the turn before turn ${turn.turn} of '${turn.saga}' is missing. Pass all turns of the saga.`,
      );
    turn = before;
  }
  const [first = last] = chain;
  const { recording, saga, version, input = {}, redacted } = first;
  const head = { saga, version, input, ...(redacted === undefined ? {} : { redacted }) };
  const { end } = last;
  if (last.journal === true) return { recording, ...head, happened: last.happened, end };
  return {
    recording,
    kind: 'turns',
    ...head,
    turns: chain.map(({ time, host, ended }): TurnBeginning => {
      return { time, host, ...(ended === undefined ? {} : { ended }) };
    }),
    happened: chain.flatMap(({ happened }, index) =>
      happened.map((event): RecordedEvent => ({ turn: index + 1, ...event })),
    ),
    end,
  };
}
