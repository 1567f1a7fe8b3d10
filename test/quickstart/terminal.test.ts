import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, isRunning, processOf } from '../support/command.ts';
import { startInTerminal } from '../support/terminal.ts';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { expectGone, serversOf } from './server-pids.ts';

// `start.test.ts` runs the package's script, with tsx.
beforeAll(() => bundleForNode('examples/quickstart/start.ts', 'examples/quickstart/server.ts'));

const enter = '\r';
const escape = '\u001B';
const down = '\u001B[B';
const controlC = '\u0003';
const controlD = '\u0004';

/** Starts a run, and waits for the question about the amount. */
async function asked(): Promise<{ command: Command; pids: readonly number[] }> {
  const command = startInTerminal([...runBundles, 'examples/quickstart/start.ts']);
  const pids = await serversOf(command);
  await command.printed(/◆ {2}amount/);
  expect(pids.filter(isRunning)).toStrictEqual(pids);
  return { command, pids };
}

describe.concurrent('pnpm start in a terminal', () => {
  it('asks the user, who also answers for the model', async () => {
    const { command, pids } = await asked();
    command.stdin.write(`12${enter}`);
    await command.printed(/amount: 12[^]*Send this\?/);
    command.stdin.write('y');
    await command.printed(/◆ {2}You play the client's model/);
    expect(command.output).toContain('Is a refund of 12 of 20 EUR fair?');
    command.stdin.write(enter);

    const { code, output } = await command.ended;
    expect(stripVTControlCharacters(output)).toMatch(/Refunded 12 EUR of order 1042 to Ada\.\s*$/);
    expect(code).toBe(0);
    await expectGone(pids);
  });

  it('accepts a negative answer of the model', async () => {
    const { command } = await asked();
    command.stdin.write(`12${enter}`);
    await command.printed(/amount: 12[^]*Send this\?/);
    command.stdin.write('y');
    await command.printed(/◆ {2}You play the client's model/);
    const clearLine = '\u0015';
    command.stdin.write(`${clearLine}Better not.${enter}`);

    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('Nothing refunded to Ada: the model did not say yes.'),
    });
  });

  it('ends if the user declines a question', async () => {
    const { command, pids } = await asked();
    command.stdin.write(escape);
    await command.printed(/No answer\?/);
    command.stdin.write(down + enter);

    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('declined'),
    });
    await expectGone(pids);
  });

  it('accepts a decline, a model rejection, or a later answer for the model', async () => {
    const { command } = await asked();
    command.stdin.write(`12${enter}`);
    await command.printed(/amount: 12[^]*Send this\?/);
    command.stdin.write('y');
    await command.printed(/◆ {2}You play the client's model/);
    command.stdin.write(escape);
    await command.printed(/◆ {2}No answer\?/);
    command.stdin.write(enter);
    await command.printed(/◇ {2}No answer\?[^]*◆ {2}You play the client's model/);
    command.stdin.write(escape);
    await command.printed(/◇ {2}No answer\?[^]*◆ {2}No answer\?/);
    command.stdin.write(down + enter);

    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('review'),
    });
  });

  it.each([
    { key: 'Ctrl-C', typed: controlC },
    { key: 'Ctrl-D', typed: controlD },
  ])('leaves no process running after $key', async ({ typed }) => {
    const { command, pids } = await asked();
    command.stdin.write(typed);

    expect(await command.ended).toMatchObject({
      code: 130,
      output: expect.stringContaining('Stopped'),
    });
    await expectGone(pids);
  });

  it.each([
    { signal: 'SIGINT', status: 130, said: /Stopped/ },
    { signal: 'SIGTERM', status: 143, said: /Stopped/ },
    // A closed terminal shows no output.
    { signal: 'SIGHUP', status: 129, said: /amount/ },
  ] as const)(
    'leaves no process running after $signal to its process group',
    async ({ signal, status, said }) => {
      const { command, pids } = await asked();
      process.kill(-processOf(pids[0]!).group, signal);

      expect(await command.ended).toMatchObject({
        code: status,
        output: expect.stringMatching(said),
      });
      await expectGone(pids);
    },
  );

  it('leaves no process running after it is killed', async () => {
    const { command, pids } = await asked();
    process.kill(processOf(pids[0]!).parent, 'SIGKILL');

    expect((await command.ended).code).not.toBe(0);
    await expectGone(pids);
  });
});
