import { testSaga } from '@mcp-saga/testing';
import { planTrip } from './parallel.ts';

/** Two questions at once. */
export const script = testSaga(planTrip, { input: { city: 'Rome' } })
  .on.elicit('dates', { from: '2030-05-01', to: '2030-05-03' })
  .on.elicit('hotel/choice', { hotel: 'Grand Rome' });
