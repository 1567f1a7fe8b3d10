import { expect, it } from 'vitest';
import { compile } from '../src/engine/compile.ts';
import { evaluate } from '../src/engine/evaluate.ts';
import { explore, playCase } from '../src/engine/explore.ts';
import { SessionPlayer } from '../src/engine/play.ts';
import type { Playground } from '../src/engine/playground.ts';
import type * as Machines from '../src/engine/saga-modules.ts';
import type { Act, Fork, Given } from '../src/model/session.ts';
import type { Cell, Lane, MachineTrace } from '../src/model/view.ts';
import { machineSaga as refund } from './machine-saga.ts';

const loadMachines = (): Promise<typeof Machines> => import('../src/engine/saga-modules.ts');
const load = async (text: string = refund): Promise<Playground> =>
  (await evaluate(loadMachines, compile([{ name: 'refund.ts', text }])))[0];

async function play(
  answers: readonly Act[],
  forks: readonly Fork[] = [],
  text?: string,
): Promise<readonly Lane[]> {
  const player = new SessionPlayer(await load(text), { answers, forks });
  await player.play();
  return player.lanes;
}

const given = (sure: boolean): Given => ({ id: 'confirm', action: 'accept', content: { sure } });

const changesOf = (machine: MachineTrace | undefined): readonly string[] | undefined =>
  machine?.changes.map(({ turn, states }) => `${turn} ${states}`);

it('shows the states of a machine saga at each turn, until it ends', async () => {
  const [waiting] = await play([]);
  expect(changesOf(waiting?.machine)).toEqual(['1 asking']);
  const [lane] = await play([given(true)]);
  expect(lane?.status).toBe('completed');
  expect(changesOf(lane?.machine)).toEqual([
    '1 asking',
    '2 asking',
    '2 paying',
    '2 telling',
    '2 refunded',
  ]);
  expect(lane?.machine?.chart.root.states.map(({ name }) => name)).toContain('refunded');
  expect(lane?.machine?.changes.at(-1)?.active).toEqual(['refund.refunded', 'refund']);
});

it('shows the states before a fork, and those of the fork', async () => {
  const lanes = await play([given(true)], [{ lane: 0, point: 0, answers: [given(false)] }]);
  expect(changesOf(lanes[1]?.machine)).toEqual(['1 asking', '2 asking', '2 kept']);
});

it('shows no states of a fork that gets the stored response', async () => {
  const guarded = refund.replace(", reuse: 'ok'", '');
  const [, fork] = await play(
    [given(true)],
    [{ lane: 0, point: 0, answers: [given(true)] }],
    guarded,
  );
  expect(fork?.entries.at(-2)).toMatchObject({ type: 'repeated', turn: 2 });
  expect(fork?.machine).toBeUndefined();
});

it('shows the states of a case', async () => {
  const cells: Cell[] = [];
  await explore(load, (reply) => {
    if (reply.type === 'cell') cells.push(reply.cell);
  });
  const fails = cells.find(({ subject, fault }) => subject === 'payBack' && fault === 'fails');
  const { machine } = await playCase(await load(), fails as Cell);
  expect(changesOf(machine)?.at(-1)).toMatch(/ failed$/);
});

it('shows no states of a saga without a machine', async () => {
  const text = `
import { saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
export const script = testSaga(saga({ name: 'plain', version: '1' }, function* () { return 'done'; }));`;
  const player = new SessionPlayer(await load(text), { answers: [], forks: [] });
  await player.play();
  expect(player.lanes[0]?.machine).toBeUndefined();
});
