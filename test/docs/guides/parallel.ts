import { all, elicit, race, saga, sleep, step, type Steps } from '@mcp-saga/server';
import { z } from 'zod';

const hotels = async (city: string): Promise<string[]> => [`Grand ${city}`, `Central ${city}`];
const weather = async (city: string): Promise<string> => `sunny in ${city}`;

// #region tool
const Dates = z.object({ from: z.iso.date(), to: z.iso.date() });
const Choice = z.object({ hotel: z.string() });

function* chooseHotel(city: string): Steps<string> {
  const found = yield* step('search', () => hotels(city), { reads: true });
  const { hotel } = yield* elicit('choice', {
    message: `Which hotel? ${found.join(', ')}`,
    schema: Choice,
  });
  return hotel;
}

export const planTrip = saga(
  { name: 'plan_trip', version: '1', input: z.object({ city: z.string() }) },
  function* ({ city }) {
    const { dates, hotel, forecast } = yield* all({
      dates: elicit('dates', { message: 'From when to when?', schema: Dates }),
      hotel: chooseHotel(city), // its steps are `hotel/search` and `hotel/choice`
      forecast: step('forecast', () => weather(city), { reads: true }),
    });
    return `${hotel}, ${dates.from} to ${dates.to}, ${forecast}.`;
  },
);
// #endregion tool

// #region deadline
const Vote = z.object({ yes: z.boolean() });

export const vote = saga({ name: 'vote', version: '1' }, function* () {
  const result = yield* race({
    votes: all([
      elicit('first', { message: 'Release version 2?', schema: Vote }),
      elicit('second', { message: 'Announce version 2?', schema: Vote }),
    ]),
    deadline: sleep('15m'),
  });
  if (result.winner === 'deadline') return 'No decision in 15 minutes.';
  return result.value.every(({ yes }) => yes) ? 'Accepted.' : 'Rejected.';
});
// #endregion deadline
