import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve, type Server } from 'srvx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bundlePackages } from '../../../test/support/bundle-for-node.ts';
import type { Command } from '../../../test/support/command.ts';
import { startInTerminal } from '../../../test/support/terminal.ts';
import { bin, fixture } from './command-line.ts';
import { pay } from './fixtures/pay.ts';
import { advise, keys, refund } from './fixtures/sagas.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

const report = saga({ name: 'report', version: '1', task: 'require' }, function* () {
  yield* step('count', () => 7);
  const { sure } = yield* elicit('confirm', {
    message: 'Sure?',
    schema: z.object({ sure: z.boolean() }),
  });
  return `sure: ${sure}`;
});

const enter = '\r';

let server: Server;
let url = '';

beforeAll(async () => {
  await bundlePackages();
  server = serve({
    ...serveSagas({
      name: 'shop',
      version: '1',
      sagas: askingModels([refund, pay, advise, report]),
      keys,
      answerers: { model: 'accept' },
      anonymous: { tasks: 'accept' },
      store: memoryStore(),
    }),
    port: 0,
    hostname: '127.0.0.1',
    silent: true,
  });
  await server.ready();
  url = new URL('/mcp', server.url).href;
});
afterAll(() => server.close(true));

function inTerminal(...args: readonly string[]): Command {
  return startInTerminal([...bin, ...args], { SAGA_KEYS: keys, NO_COLOR: '1' });
}

function call(...args: readonly string[]): Command {
  return inTerminal('call', `--url=${url}`, ...args);
}

describe('mcp-saga in a terminal', () => {
  it('has colors, unless NO_COLOR is set', async () => {
    // Node takes the logs of most CI services for streams without colors.
    const inColors = {
      SAGA_KEYS: keys,
      NO_COLOR: undefined,
      FORCE_COLOR: undefined,
      CI: undefined,
    };
    const colored = await startInTerminal([...bin, 'keys', '--help'], inColors).ended;
    expect(colored.output).toContain('\u001B[36m  keys new\u001B[39m');
    expect((await inTerminal('keys', '--help').ended).output).not.toContain('\u001B[36m');
  });

  it('new asks for the missing options, and creates the project', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-new-'));
    const command = inTerminal('new', '--name=invoices');
    await command.printed(/Where does it run\?/);
    command.stdin.write(enter);
    await command.printed(/Folder/);
    command.stdin.write(`${join(folder, 'invoices')}${enter}`);
    await command.printed(/Language/);
    command.stdin.write(enter);
    expect(await command.ended).toMatchObject({ code: 0 });
    const { name } = JSON.parse(
      await readFile(join(folder, 'invoices', 'package.json'), 'utf8'),
    ) as {
      readonly name: string;
    };
    expect(name).toBe('invoices');
  });

  it.each([
    [['keys', 'new'], 0, /^k1:[\w-]{43}\s*$/],
    [['keys', 'check'], 0, /k1/],
    [['keys', 'rotate', '--phase=1', '--id=k9'], 0, /k9:[\w-]{43}/],
    [['graph', fixture('machine.ts')], 0, /stateDiagram-v2/],
    [
      ['test', fixture('sagas.ts'), '--export=script', '--harmless=pay-back'],
      0,
      /ok +script: fork/,
    ],
    [['crash', fixture('losing.ts')], 1, /FAIL +paying: crash/],
    [['replay', 'none', '--sagas', fixture('sagas.ts')], 2, /No recordings found/],
    [['inspect', 'no-token'], 2, /not a whole saga token/],
  ])('%j prints its result, and ends', async (args, code, expected) => {
    expect(await inTerminal(...args).ended).toMatchObject({
      code,
      output: expect.stringMatching(expected),
    });
  });
});

it('mcp-saga doctor prints its checks in a terminal, and ends', async () => {
  const { code, output } = await inTerminal('doctor', `--url=${url}`).ended;
  expect(code).toBe(0);
  expect(output).toContain('shop');
});

it('mcp-saga dev serves in a terminal until Ctrl-C', async () => {
  const command = inTerminal('dev', '--port=0', fixture('sagas.ts'));
  const [address = ''] = await command.printed(/http\S+(?=\/studio\/)/);
  expect(await fetch(`${address}/studio/state`)).toMatchObject({ status: 200 });
  command.stdin.write('\u0003');
  expect(await command.ended).toMatchObject({ code: 130 });
});

describe('mcp-saga call in a terminal', () => {
  it('asks the user, and prints the result', async () => {
    const command = call('refund', '--arg=amount=9');
    await command.printed(/'confirm' asks: Refund 9\?[^]*◆ {2}sure/);
    command.stdin.write('y');
    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('refunded 9'),
    });
  });

  it.each(['saga-methods', 'tool'])(
    'asks the user, with the reason, if the server refuses an option: %s',
    async (way) => {
      const command = call('pay', '--answer=amount=0', `--as=${way}`);
      await command.printed(/Asked again: .*not free/);
      await command.printed(/◆ {2}amount/);
      command.stdin.write('0\r');
      await command.printed(/amount: 0[^]*Send this\?/);
      command.stdin.write('y');
      await command.printed(/Asked again: .*not free[^]*Asked again: .*not free[^]*◆ {2}amount/);
      command.stdin.write('7\r');
      await command.printed(/amount: 7[^]*Send this\?/);
      command.stdin.write('y');
      expect(await command.ended).toMatchObject({
        code: 0,
        output: expect.stringContaining('paid 7'),
      });
    },
  );

  it('asks for a missing argument, and shows the option that gives it', async () => {
    const command = call('refund', '--yes');
    await command.printed(/The tool 'refund' needs amount\.[^]*◆ {2}amount/);
    command.stdin.write(`x${enter}`);
    await command.printed(/Not a number/);
    command.stdin.write('\u00158\r');
    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringMatching(/Given: --arg amount=8\s[^]*refunded 8/),
    });
  });

  it('calls nothing if the person leaves the form of the arguments', async () => {
    const command = call('refund', '--yes');
    await command.printed(/◆ {2}amount/);
    command.stdin.write('\u001B');
    const { code, output } = await command.ended;
    expect(code).toBe(130);
    expect(output).not.toContain('refunded');
  });

  it.each([
    ['continues the saga in the file', enter, 'refunded 9'],
    ['starts a new saga', `\u001B[B${enter}`, 'refunded 8'],
  ])('%s of --keep, as the person chooses, if the arguments differ', async (_, chosen, result) => {
    const file = join(await mkdtemp(join(tmpdir(), 'mcp-saga-keep-')), 'saga.json');
    const first = call('refund', '--arg=amount=9', `--keep=${file}`);
    await first.printed(/◆ {2}sure/);
    first.stdin.write('\u0003');
    await first.ended;
    const second = call('refund', '--arg=amount=8', '--yes', `--keep=${file}`);
    await second.printed(/has other arguments[^]*Start a new saga with \{"amount":8\}/);
    second.stdin.write(chosen);
    expect(await second.ended).toMatchObject({ code: 0, output: expect.stringContaining(result) });
  });

  it('shows the person who plays the model what the saga asks', async () => {
    const command = call('advise', '--arg=amount=9');
    await command.printed(
      /'opinion' asks the model: Is 9 EUR much\?[^]*You play the client's model/,
    );
    command.stdin.write('No\r');
    expect(await command.ended).toMatchObject({
      code: 0,
      output: expect.stringContaining('advised: No'),
    });
  });

  it.each([
    ['refund', 'saga-methods', 'The saga stays suspended: --keep continues such a call.'],
    ['refund', 'resume-token', 'The saga stays unfinished'],
    ['report', 'tasks', 'Asked the server to cancel the task.'],
  ])('ends at once with Ctrl-C, and names the state of %s: %s', async (name, way, state) => {
    const command = call(name, '--arg=amount=9', `--as=${way}`);
    await command.printed(/◆ {2}sure/);
    command.stdin.write('\u0003');
    expect(await command.ended).toMatchObject({
      code: 130,
      output: expect.stringContaining(state),
    });
  });
});
