import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, processOf } from '../support/command.ts';
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

/** Starts a run and waits until the person is asked where to deploy. */
async function asked(): Promise<{ command: Command; pids: readonly number[] }> {
  const command = startInTerminal([...runBundles, 'examples/quickstart/start.ts']);
  const pids = await serversOf(command);
  await command.printed(/◆ {2}target/);
  return { command, pids };
}

describe.concurrent('pnpm start in a terminal', () => {
  it('asks the person, who plays the model too', async () => {
    const { command, pids } = await asked();
    command.stdin.write(`staging${enter}`);
    await command.printed(/◆ {2}You play the client's model/);
    expect(command.output).toContain("Is deploying to 'staging' safe right now?");
    command.stdin.write(enter);

    const { code, output } = await command.ended;
    expect(stripVTControlCharacters(output)).toMatch(
      /Deployment to staging initiated successfully based on confirmation\.\s*$/,
    );
    expect(code).toBe(0);
    await expectGone(pids);
  });

  it('takes a no for an answer of the model', async () => {
    const { command } = await asked();
    command.stdin.write(`staging${enter}`);
    await command.printed(/◆ {2}You play the client's model/);
    const clearLine = '\u0015';
    command.stdin.write(`${clearLine}Better not.${enter}`);

    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('Not deployed to staging: the model did not say yes.'),
    });
  });

  it('lets the person decline a question', async () => {
    const { command, pids } = await asked();
    command.stdin.write(escape);
    await command.printed(/No answer\?/);
    command.stdin.write(down + enter);

    expect(await command.ended).toMatchObject({ code: 1, output: expect.stringContaining('declined') });
    await expectGone(pids);
  });

  it.each([
    { key: 'Ctrl-C', typed: controlC },
    { key: 'Ctrl-D', typed: controlD },
  ])('leaves no process behind on $key', async ({ typed }) => {
    const { command, pids } = await asked();
    command.stdin.write(typed);

    expect(await command.ended).toMatchObject({ code: 130, output: expect.stringContaining('Stopped') });
    await expectGone(pids);
  });

  it.each([
    { signal: 'SIGINT', status: 130, said: /Stopped/ },
    { signal: 'SIGTERM', status: 143, said: /Stopped/ },
    // The terminal is gone: nobody is told.
    { signal: 'SIGHUP', status: 129, said: /target/ },
  ] as const)(
    'leaves no process behind when its whole group gets $signal',
    async ({ signal, status, said }) => {
      const { command, pids } = await asked();
      process.kill(-processOf(pids[0]!).group, signal);

      expect(await command.ended).toMatchObject({ code: status, output: expect.stringMatching(said) });
      await expectGone(pids);
    },
  );

  it('leaves no process behind when it is killed', async () => {
    const { command, pids } = await asked();
    process.kill(processOf(pids[0]!).parent, 'SIGKILL');

    expect((await command.ended).code).not.toBe(0);
    await expectGone(pids);
  });
});
