import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { type Command, isRunning, start } from '../support/command.ts';
import { serversOf } from './server-pids.ts';

const tsx = ['--import', 'tsx'];
const script = 'examples/quickstart/start.ts';
const result = 'Refunded 15 EUR of order 1042 to Ada.';
const deployed = 'Deployment to production initiated successfully based on confirmation.';

const client = 'examples/quickstart/client.ts';

beforeAll(() => bundleForNode(script, client, 'examples/quickstart/server.ts'));

const run = (...args: readonly string[]): Command =>
  start(process.execPath, [...runBundles, script, ...args]);

describe.concurrent('pnpm start', () => {
  it.each([
    // Same options as the package's script.
    { args: [], why: 'without a terminal', options: tsx },
    { args: ['--yes'], why: 'with --yes', options: runBundles },
    {
      args: ['--', '-y'],
      why: 'with -y behind the dashes that other package managers want',
      options: runBundles,
    },
  ])(
    '[P2] answers by script $why, with requests alternating between processes, and ends',
    async ({ args, options }) => {
      const command = start(process.execPath, [...options, script, ...args]);
      const pids = await serversOf(command);
      const { code, output } = await command.ended;
      expect({ code, output }).toMatchObject({ code: 0 });
      expect(output.trimEnd().endsWith(result)).toBe(true);
      expect(output.match(/Request \d to [AB]/g)).toStrictEqual([
        'Request 1 to A',
        'Request 2 to B',
        'Request 3 to A',
      ]);
      expect(
        output.match(/(?<=│ {2})[AB] (asks the \w+|gave a token|ran \w+|ended the saga)/g),
      ).toStrictEqual([
        'A ran find',
        'A asks the user',
        'A gave a token',
        'B asks the model',
        'B gave a token',
        'A ran refund',
        'A ran book',
        'A ended the saga',
      ]);
      expect(output).toMatch(/token of \d{3,4} bytes/);
      expect(stripVTControlCharacters(output)).toBe(output);
      expect(pids.filter(isRunning)).toStrictEqual([]);
    },
  );

  it('ends without an error if its output is closed', async () => {
    const { output } = await start('sh', [
      '-c',
      `'${process.execPath}' ${runBundles.join(' ')} ${script} --yes | head -n 1`,
    ]).ended;
    expect(output).toMatch(/^┌ {2}One saga[^\n]*\n$/);
  });

  it('shows its usage', async () => {
    const { code, output } = await run('--help').ended;
    expect(output).toContain('pnpm start [--yes]');
    expect(code).toBe(0);
  });

  it.each(['--no', 'yes'])('refuses %s and shows its usage', async (flag) => {
    const { code, output } = await run(flag).ended;
    expect(output).toContain(`'${flag}'`);
    expect(output).toContain('pnpm start [--yes]');
    expect(code).toBe(2);
  });
});

describe.concurrent('the client of the quickstart', () => {
  it('completes on another server if its server was killed', async () => {
    const { code, output } = await start(process.execPath, [...runBundles, client]).ended;
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(deployed) });
  });
});
