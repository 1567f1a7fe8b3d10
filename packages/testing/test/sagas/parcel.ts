import { elicit, patched, saga, step, type Program, type Steps } from '@mcp-saga/server';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

const make = (body: () => Steps<string>): Program => saga({ name: 'parcel', version: '1' }, body);

/** The code at the time of the recordings. */
export const parcel: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  yield* step('ship', async () => 'on its way');
  return 'sent';
});

/** A step has another name. */
export const renamed: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  yield* step('deliver', async () => 'on its way');
  return 'sent';
});

/** A question says something else. */
export const reworded: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Really send it, for 9 EUR?', schema: Sure });
  yield* step('ship', async () => 'on its way');
  return 'sent';
});

/** One more step at the end. */
export const longer: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  yield* step('ship', async () => 'on its way');
  yield* step('mail', async () => 'mailed');
  return 'sent';
});

/** The last step is gone. */
export const shorter: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  return 'sent';
});

/** It ends with other words. */
export const otherwise: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  yield* step('ship', async () => 'on its way');
  return 'shipped';
});

/** A correct change: the new code is behind a patch. */
export const patchedParcel: Program = make(function* () {
  yield* step('pack', async () => 'box-1');
  yield* elicit('sure', { message: 'Send it?', schema: Sure });
  if (yield* patched('insured')) yield* step('insure', async () => 'insured');
  yield* step('ship', async () => 'on its way');
  return 'sent';
});

/** Changed as it should be: under a version of its own, beside the old one. */
export const versioned: Program = saga(
  { name: 'parcel', version: '2', previous: [{ saga: parcel }] },
  function* () {
    return yield* step('send', async () => 'sent');
  },
);

/** The old version was dropped. */
export const dropped: Program = saga({ name: 'parcel', version: '2' }, function* () {
  return yield* step('send', async () => 'sent');
});
