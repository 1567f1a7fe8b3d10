import { disk } from './disk.ts';
// #region server
import { saga, step } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { sure } from './sure.ts';

export const erase = saga({ name: 'erase', version: '1' }, function* () {
  if (!(yield* sure('Erase it all?'))) return 'Kept.';
  return yield* step('erase', ({ idempotencyKey }) => disk.erase(idempotencyKey));
});

// The keys are in SAGA_KEYS.
export default serveSagas({ name: 'disk', version: '1.0.0', sagas: [erase] });
// #endregion server
