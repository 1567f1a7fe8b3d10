import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { generateKey } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve, type Server } from 'srvx';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from './command-line.ts';
import { pay } from './fixtures/pay.ts';
import { keys, refund } from './fixtures/sagas.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { rejectionLog } from '../../../test/support/known-logs.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

let servers: readonly Server[] = [];
let [url, stranger] = ['', ''];
let started = 0;

beforeAll(async () => {
  servers = [keys, generateKey('k1')].map((each) =>
    serve({
      ...serveSagas({
        name: 'shop',
        version: '1',
        sagas: askingModels([refund, pay]),
        keys: each,
        answerers: { model: 'accept' },
        hooks: { onTurn: () => void (started += 1) },
      }),
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
    }),
  );
  await Promise.all(servers.map((server) => server.ready()));
  [url = '', stranger = ''] = servers.map((server) => new URL('/mcp', server.url).href);
});
afterAll(() => Promise.all(servers.map((server) => server.close(true))));

const unfinished =
  'The saga stays unfinished. Only a call by the saga methods with --keep can continue.';

describe.each([['tool'], ['tool', '--mcp=2025-11-25'], ['resume-token']])(
  'mcp-saga call --as %s %s',
  (...way) => {
    const call = ['call', 'refund', '--arg=amount=9', '--as', ...way];

    it('names the state of the saga after a question without an answer', async () => {
      const { code, errors } = await run([...call, '--url', url]);
      expect(code).toBe(1);
      expect(errors).toContain(`${unfinished}\n`);
    });

    it('says nothing about the saga after an end', async () => {
      const { code, errors } = await run([...call, '--url', url, '--yes']);
      expect(code).toBe(0);
      expect(errors).not.toContain('unfinished');
    });
  },
);

describe('mcp-saga call --keep', () => {
  let file: string;
  beforeEach(async () => {
    file = join(await mkdtemp(join(tmpdir(), 'mcp-saga-keep-')), 'saga.json');
  });
  const call = (name: string, ...more: readonly string[]): ReturnType<typeof run> =>
    run(['call', name, '--url', url, '--keep', file, ...more]);

  it('takes another answer after the server refused one', async () => {
    expect(await call('pay', '--answer=amount=0')).toMatchObject({
      code: 1,
      errors: expect.stringContaining("The server refuses the answer to 'how-much'"),
    });
    expect(await call('pay')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('--answer amount='),
    });
    expect(await call('pay', '--answer=amount=0')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not free'),
    });
    expect(await call('pay', '--answer=amount=5')).toMatchObject({ code: 0, printed: 'paid 5' });
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('names the file of a saga that the server refuses, and keeps the file for the right server', async () => {
    expectLogs(rejectionLog('undecryptable'));
    await call('refund', '--arg=amount=9');
    const { sagaToken } = JSON.parse(await readFile(file, 'utf8')) as {
      readonly sagaToken: string;
    };
    const refused = await call('refund', '--yes', '--url', stranger);
    expect(refused).toMatchObject({
      code: 1,
      errors: expect.stringContaining('invalid or expired'),
    });
    expect(refused.errors).toContain(
      `${file} stays. To start a new saga, delete the file or pass another one.`,
    );
    expect(await readFile(file, 'utf8')).toContain(sagaToken);
    expect(await call('refund', '--yes')).toMatchObject({ code: 0, printed: 'refunded 9' });
  });

  it('continues with the same arguments, or with none', async () => {
    await call('refund', '--arg=amount=9');
    const again = await call('refund', '--arg=amount=9');
    expect(again.errors).toContain(`continues the saga in ${file}`);
    expect(await call('refund', '--yes')).toMatchObject({ code: 0, printed: 'refunded 9' });
  });

  it('starts anew with other arguments, and keeps the saga in another file', async () => {
    await call('refund', '--arg=amount=9');
    await call('refund', '--arg=amount=8');
    const { code, printed, errors } = await call('refund', '--arg=amount=7', '--yes');
    expect({ code, printed }).toEqual({ code: 0, printed: 'refunded 7' });
    expect(errors).toContain(`The saga in ${file} has other arguments: it is kept in ${file}.2.`);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    const first = await call('refund', '--yes', '--keep', `${file}.1`);
    expect(first).toMatchObject({ code: 0, printed: 'refunded 9' });
  });

  it('refuses the saga of another tool, whatever the arguments are', async () => {
    await call('refund', '--arg=amount=9');
    const other = await call('pay', '--arg=amount=7');
    expect(other).toMatchObject({ code: 2, errors: expect.stringContaining("a saga of 'refund'") });
    expect(await call('refund', '--yes')).toMatchObject({ code: 0, printed: 'refunded 9' });
  });

  it('starts nothing if the file cannot be written', async () => {
    const folder = dirname(file);
    started = 0;
    const missing = join(folder, 'missing', 'saga.json');
    const before = await readdir(folder);
    for (const wrong of ['', folder, missing]) {
      const { code, printed } = await call('refund', '--arg=amount=9', '--keep', wrong, '--json');
      expect({ code, ...JSON.parse(printed) }).toMatchObject({
        code: 2,
        error: { code: 'no_file' },
      });
    }
    expect(started).toBe(0);
    expect(await readdir(folder)).toEqual(before);
  });

  it('leaves no file after a call that starts no saga', async () => {
    expect(await call('refund', '--arg=amount=x')).toMatchObject({ code: 1 });
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('names a file without a saga', async () => {
    await writeFile(file, '{}');
    expect(await call('refund')).toMatchObject({
      code: 1,
      errors: expect.stringContaining(`${file} stays.`),
    });
    expect(await readFile(file, 'utf8')).toBe('{}');
  });
});
