import { expect, it } from 'vitest';
import { poll, step, type Command } from '../src/index.ts';
import { start, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { continuesAtCommits, World } from './support/world.ts';
import type { CommitPoint } from '../src/model/outcome.ts';

// A repetition of the turn may read something else, and take another branch: the order of the first
// run is then neither undone nor named, as the second test shows.
const orders = (look: () => Command<number>, ran: string[] = []) =>
  sagaOf(
    function* () {
      const left = yield* look();
      if (left === 0) return 'Sold out: nothing was ordered.';
      yield* step('order', () => void ran.push('order'));
      return 'Ordered.';
    },
    { reuse: 'ok' },
  );

let stock = 1;
const looks: readonly [string, () => Command<number>][] = [
  ['poll', () => poll('look', () => stock, { every: '1s', timeout: '1m' })],
  ['step that only reads', () => step('look', () => stock, { reads: true })],
];

it.each(looks)('core commits before an effect behind a %s', async (_, look) => {
  const points: CommitPoint[] = [];
  await start(orders(look), {}, new World(), { replace: continuesAtCommits(points) });
  expect(points.map(({ reason }) => reason)).toContain('chance');
});

it('a repetition from the last commit does not deny the effect of a run whose read differed', async () => {
  const ran: string[] = [];
  const look = (): Command<number> => step('look', () => stock, { reads: true });
  const points: CommitPoint[] = [];
  stock = 1;
  // The process dies behind the order, before its response.
  await start(orders(look, ran), {}, new World(), { replace: continuesAtCommits(points) });
  stock = 0;
  const interrupted = { replace: { isInterrupted: true } };
  const kept = points.at(-1)?.state;
  const program = orders(look, ran);
  const outcome =
    kept === undefined
      ? await start(program, {}, new World(), interrupted)
      : await turn(program, kept, {}, new World(), interrupted);
  expect(ran).toContain('order');
  expect(outcome).toMatchObject({ result: 'Ordered.' });
});
