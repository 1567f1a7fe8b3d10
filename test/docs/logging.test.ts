import { createSagaHost, generateKey, memoryStore, type SagaHost } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { run } from '../../packages/cli/test/command-line.ts';
import { read } from './markdown.ts';
import { refund } from './operate/logged-refund.ts';

const caller = { principal: { subject: 'ada', client: 'web' } };
const lines: string[] = [];
let sagaId = '';
let token = '';

/** Confirms a refund, which fails. Returns its first token. */
async function refundWith(by: SagaHost): Promise<{ readonly token: string; readonly id: string }> {
  const turn = await by.start('refund', { order: '7' }, { caller });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  const yes = { stepId: 'sure', result: { action: 'accept', content: {} } } as const;
  const failed = await by.resume(turn.token, [yes], { caller });
  expect(failed).toMatchObject({ status: 'failed', uncompensated: [{ stepId: 'hold' }] });
  return { token: turn.token, id: turn.sagaId };
}

/** The page shows an ID, a time, and a duration of its own. */
function asShown(text: string): string {
  return text
    .replaceAll(sagaId, 'YbsLiCLsQpP-PFpJKaK_ZA')
    .replaceAll(/"ms":\d+/g, '"ms":12')
    .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '2026-11-30T20:31:33.548Z');
}

const shownIn = (file: string): string => read(`test/docs/operate/${file}`).trimEnd();

beforeAll(async () => {
  // The command line loads the module again, and opens the token with the same key.
  vi.stubEnv('SAGA_KEYS', generateKey('k1'));
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
  const { host } = await import('./operate/logging.ts');
  ({ token, id: sagaId } = await refundWith(host));
  await expect(host.resume(`${token}x`, [], { caller })).rejects.toThrow('Invalid or expired');
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('the page on logging', () => {
  it('shows what a host without hooks logs of a refund that failed', async () => {
    const errors = vi.spyOn(console, 'error').mockReturnValue();
    vi.spyOn(console, 'warn').mockReturnValue();
    const { id } = await refundWith(
      createSagaHost({
        sagas: [refund],
        name: 'shop',
        keys: generateKey(),
        store: memoryStore(),
        testing: { environment: 'production' },
      }),
    );
    const said = errors.mock.calls.map(([line]) => String(line)).join('\n');
    expect(said.replaceAll(id, 'YbsLiCLsQpP-PFpJKaK_ZA')).toBe(shownIn('default.log'));
  });

  it('shows the lines of its hooks, for the same refund and for a rejected token', () => {
    expect(asShown(lines.join('\n'))).toBe(shownIn('logging.log'));
  });

  it('finds the lines of the saga, its user, its failure, and its open hold by commands', () => {
    const commands = read('docs/operate/logging.md').matchAll(/^grep '([^']+)' saga\.log/gm);
    const all = shownIn('logging.log').split('\n');
    const found = [...commands].map(([, words = '']) =>
      all.flatMap((line, at) => (line.includes(words) ? [at] : [])),
    );
    expect(found).toEqual([[0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [8], [9]]);
  });

  it('shows what the command line tells of the token, without answers and results', async () => {
    const file = new URL('operate/logging.ts', import.meta.url).pathname;
    const { printed, errors } = await run(['inspect', '-', '--host', file], { input: token });
    expect(errors).toBe('');
    expect(asShown(printed)).toBe(shownIn('inspect.txt'));
  });
});
