import { describe, expect, it } from 'vitest';
import { commands, loadsUserCode } from '../src/commands/commands.ts';
import { run } from './command-line.ts';

const loaded = await Promise.all(
  commands.map(async ({ name, load }) => ({ name, ...(await load()) })),
);

describe('mcp-saga', () => {
  it('lists its commands', async () => {
    const { code, printed } = await run([]);
    expect(code).toBe(0);
    for (const { name } of commands) expect(printed).toContain(`  ${name} `);
  });

  it.each(commands)('$name has a help with an example', async ({ name, load }) => {
    const { options } = await load();
    const { code, printed } = await run([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(printed).toContain(`Example: `);
    for (const option of ['json', ...Object.keys(options)])
      expect(printed).toContain(`--${option}`);
  });

  it.each([['help'], ['keys', '--help'], ['-h'], ['--json', '-h']])(
    'lists its commands: %s %s',
    async (...args) => {
      expect(await run(args)).toMatchObject({
        code: 0,
        printed: expect.stringContaining('keys rotate'),
      });
    },
  );

  it.each(['call', 'keys new'])('shows the help of a command: help %s', async (name) => {
    const { code, printed } = await run(['help', ...name.split(' ')]);
    expect(code).toBe(0);
    expect(printed).toContain(`mcp-saga ${name} `);
  });

  it.each([
    [['bogus', '--help'], 'bogus'],
    [['keys', 'bogus', '-h'], 'keys bogus'],
    [['help', 'bogus'], 'bogus'],
    [['--bogus'], '--bogus'],
  ])('refuses an unknown command, also with help: %s', async (args, command) => {
    const { code, printed, errors } = await run(args);
    expect({ code, printed }).toEqual({ code: 2, printed: '' });
    expect(errors).toContain(`Unknown command '${command}'.`);
  });

  it('reports an unknown command as JSON', async () => {
    const { code, printed } = await run(['inspcet', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(printed)).toMatchObject({ error: { code: 'usage' } });
  });

  it('refuses unknown commands, options, and further arguments', async () => {
    for (const args of [
      ['kall'],
      ['call', 'tool', '--urll', 'x'],
      ['keys', 'new', 'a', 'b'],
      ['call'],
    ])
      expect(await run(args), args.join(' ')).toMatchObject({ code: 2, printed: '' });
  });

  it.each(loaded.filter(({ parameters }) => parameters.some((name) => !name.endsWith('?'))))(
    'names the missing argument of $name',
    async ({ name, parameters: [first] }) => {
      const { code, errors } = await run(name.split(' '));
      expect(errors).toContain(`Missing: <${first}>.\n`);
      expect(code).toBe(2);
    },
  );

  it.each([
    [['inspcet', 'x'], "Unknown command 'inspcet'. Did you mean 'inspect'?"],
    [['keys', 'rotat'], "Unknown command 'keys rotat'. Did you mean 'keys rotate'?"],
    [['frobnicate', 'x'], "Unknown command 'frobnicate'.\n"],
    [['call', 'tool', '--answr', 'x'], "Unknown option '--answr'. Did you mean '--answer'?"],
    [['call', 'tool', '--frobnicate=x'], "Unknown option '--frobnicate'.\n"],
    [['call', 'tool', '-x'], "Unknown option '-x'.\n"],
  ])('names the unknown word of %s, and the nearest one', async (args, message) => {
    expect(await run(args)).toMatchObject({ code: 2, errors: expect.stringContaining(message) });
  });

  it('reports an error as JSON with --json', async () => {
    const { code, printed } = await run(['inspect', 'no-token', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(printed)).toMatchObject({ error: { code: 'usage' } });
  });

  it('declares which commands load code of the user, with which arguments', () => {
    const loading = (...args: readonly string[]): readonly string[] =>
      loaded.filter((command) => loadsUserCode(command, args)).map(({ name }) => name);
    const always = ['dev', 'test', 'crash', 'replay', 'graph'];
    expect(loading('file', '--json')).toEqual(always);
    for (const host of [['--host', 'host.ts'], ['--host=host.ts']])
      expect(loading(...host).toSorted()).toEqual([...always, 'inspect', 'doctor'].toSorted());
  });

  it('prints its version', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      printed: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
  });
});
