import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { saveRecording } from '@mcp-saga/testing/node';
import { beforeEach, describe, expect, it } from 'vitest';
import { fixture, run } from './command-line.ts';
import { host, keys, script } from './fixtures/sagas.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mcp-saga-outputs-'));
});

/** What a command printed on both streams, with folders and keys replaced, and its exit code. */
async function golden(...given: Parameters<typeof run>): Promise<string> {
  const { code, printed, errors } = await run(...given);
  const parts = [errors, printed, `→ ${code}`].filter((part) => part !== '');
  return (
    parts
      .join('\n--\n')
      .replaceAll(relative(process.cwd(), folder), 'FOLDER')
      .replaceAll(folder, 'FOLDER')
      .replaceAll(/(k\w+):[\w-]{43}/g, '$1:KEY')
      .replaceAll(/\S+T[\d:.]+Z/g, 'TIME')
      .replaceAll(/((?:sagaId|bytes|Bytes) +)\S+/g, '$1…')
      .replaceAll(/\d+ bytes/g, 'N bytes')
      // The text depends on the version of Node.
      .replaceAll(/Expected property name .*/g, 'SYNTAX ERROR')
  );
}

describe('the output of mcp-saga', () => {
  it('of new has the next steps, or the reason of a refusal', async () => {
    expect(await golden(['new', join(folder, 'shop')])).toMatchInlineSnapshot(`
      "Created 11 files in FOLDER/shop

      cd FOLDER/shop
      npm install
      npm run test
      npm run start   (or dev, with a page)
      npm run call   (in another terminal)
      --
      → 0"
    `);
    expect(await golden(['new', join(folder, 'shop')])).toMatchInlineSnapshot(`
      "The folder FOLDER/shop is not empty. Choose another folder, or add a saga to it with --template existing-server.
      --
      → 1"
    `);
  });

  it('of keys has keys on one stream, and advice on the other', async () => {
    expect(await golden(['keys', 'new'])).toMatchInlineSnapshot(`
      "k1:KEY
      --
      → 0"
    `);
    const { printed: both } = await run(['keys', 'rotate', '-p', '1'], {
      environment: { SAGA_KEYS: keys },
    });
    const environment = { SAGA_KEYS: both };
    const rotate = (phase: string): Promise<string> =>
      golden(['keys', 'rotate', '--phase', phase], { environment });
    expect(await rotate('1')).toMatchInlineSnapshot(`
      "k1, k2, k3: the first key seals tokens, and each key opens them. Roll this out to every process. Then run phase 2.
      --
      k1:KEY,k2:KEY,k3:KEY
      --
      → 0"
    `);
    expect(await rotate('2')).toMatchInlineSnapshot(`
      "k2, k1: the first key seals tokens, and each key opens them. Roll this out to every process. Run phase 3 when the tokens of the old key have expired.
      --
      k2:KEY,k1:KEY
      --
      → 0"
    `);
    const { printed: sealing } = await run(['keys', 'rotate', '-p', '2'], { environment });
    expect(
      await golden(['keys', 'rotate', '--phase', '3'], { environment: { SAGA_KEYS: sealing } }),
    ).toMatchInlineSnapshot(`
      "k2: the first key seals tokens, and each key opens them. Roll this out to every process. Tokens of other keys are rejected from now on.
      --
      k2:KEY
      --
      → 0"
    `);
    expect(await golden(['keys', 'check'], { environment })).toMatchInlineSnapshot(`
      "2 good: k1 seals new tokens. Tokens of k2 still open.
      --
      → 0"
    `);
  });

  it('of inspect has the facts of a token, in a timeline with the host', async () => {
    const turn = await host.start('refund', { amount: 9 });
    const { token } = turn as { readonly token: string };
    expect(await golden(['inspect', token])).toMatchInlineSnapshot(`
      "tokenBytes  …
      keyId       k1

      Everything else is encrypted. Pass --host, or SAGA_KEYS and --audience.
      --
      → 0"
    `);
    expect(await golden(['inspect', token, '--host', fixture('sagas.ts')])).toMatchInlineSnapshot(`
      "sagaId      …
      keyId       k1
      tokenBytes  …
      secrets     N bytes, 100 stored
      structure   N bytes, 0 stored
      client      N bytes, 0 stored
      server      N bytes, 12 stored
      saga       refund 2
      target     refund
      turn       1
      method     host
      principal  anonymous
      engine     1
      started    TIME
      sealed     TIME
      expires    TIME

        input parsed, N bytes
      --
      → 0"
    `);
  });

  it('of test and crash has a verdict for each explorer', async () => {
    const test = (file: string, ...more: readonly string[]): Promise<string> =>
      golden(['test', fixture(file), ...more]);
    expect(await test('sagas.ts', '--export=script', '--harmless=pay-back')).toMatchInlineSnapshot(`
      "script: crash …
      script: fail …
      script: refuse …
      script: fork …
      --
      ok    script: crash, 4 cases hold
      ok    script: fail, 3 cases hold
      ok    script: refuse, 4 cases hold
      ok    script: fork, 3 cases hold
      --
      → 0"
    `);
    expect(await test('charging.ts')).toMatchInlineSnapshot(`
      "charging: crash …
      charging: fail …
      charging: refuse …
      charging: fork …
      --
      FAIL  charging: crash, fail, refuse, fork
            Invalid arguments for 'charging': amount: expected number. Pass the arguments of the saga as \`input\`: got none. Write testSaga(saga, { input: { … } }), sagaProperty(saga, { input: fc.record({ … }) }), or --input '{ … }' on the command line.
      --
      → 2"
    `);
    expect(await golden(['crash', fixture('losing.ts')])).toMatchInlineSnapshot(`
      "paying: crash …
      --
      FAIL  paying: crash, 2 of 3 cases fail
            When the process dies after 'pay': 'pay' happens twice. The step runs in the first request, before the client has a token: the client can only start a new saga, with new idempotency keys. Give the step an undo or \`once: true\`, which make it wait for a token, or put a question or checkpoint() before the step. If the step only reads, set reads: true. If a second effect does no harm, pass --harmless pay.
            
            The smallest case, to paste into a test:
            
                const run = await testSaga(yourSaga /* 'paying' */)
                  .crash.after('pay')
                  .run();
                expect(run.effects.filter(({ id }) => id === 'pay')).toHaveLength(1);
            
            What happened:
            
                turn 1  started paying
                        crashed after pay
                        ran pay: "paid"
                        completed: "done"
            
            The same problem occurs in:
            
                When the response of turn 1 is lost
      --
      → 1"
    `);
  });

  it('of replay has a verdict for each recording', async () => {
    saveRecording(join(folder, 'refund.json'), (await script.run()).recording);
    writeFileSync(join(folder, 'broken.json'), '{');
    const replay = ['replay', folder, '--sagas'];
    expect(await golden([...replay, fixture('sagas.ts')])).toMatchInlineSnapshot(`
      "FAIL  FOLDER/broken.json
            SYNTAX ERROR
      ok    FOLDER/refund.json
      --
      → 1"
    `);
    const { printed } = await run([...replay, fixture('sagas.ts'), '--json']);
    expect(JSON.parse(printed)).toMatchObject({
      ok: false,
      recordings: [{ problem: expect.any(String) }, { file: expect.stringContaining('refund') }],
    });
    expect(await golden(['replay', join(folder, 'none'), '--sagas', fixture('sagas.ts')]))
      .toMatchInlineSnapshot(`
      "No recordings found at FOLDER/none. Check the path, which is relative to the working directory.
      --
      → 2"
    `);
  });

  it.each([
    [['keys', 'new'], 0, { id: 'k1', key: expect.stringMatching(/^k1:/) }],
    [
      ['keys', 'rotate', '--phase=1'],
      0,
      { phase: 1, ids: ['k1', 'k2'], keys: expect.stringContaining(',k2:') },
    ],
    [['keys', 'check'], 0, { ok: true, ids: ['k1'] }],
    [['graph', fixture('machine.ts')], 0, { mermaid: expect.stringContaining('OPEN') }],
    [['graph', fixture('machine.ts'), '--svg'], 0, { svg: expect.stringContaining('<svg') }],
    [
      ['graph', fixture('sagas.ts'), '--export=script', '--svg'],
      0,
      { svg: expect.stringMatching(/^<svg .*ran pay-back/s) },
    ],
    [
      ['crash', fixture('losing.ts')],
      1,
      { ok: false, runs: [expect.objectContaining({ explorer: 'crash' })] },
    ],
    [['test', fixture('charging.ts')], 2, { ok: false, runs: expect.any(Array) }],
    [['replay', 'none', '--sagas', fixture('sagas.ts')], 2, { error: { code: 'no_file' } }],
  ])('of %j is one JSON document with --json', async (args, code, expected) => {
    const ran = await run([...args, '--json'], { environment: { SAGA_KEYS: keys } });
    expect(ran.code).toBe(code);
    expect(JSON.parse(ran.printed)).toMatchObject(expected);
  });

  it('of graph is Mermaid, or advice on missing arguments', async () => {
    expect(await golden(['graph', fixture('machine.ts')])).toMatchInlineSnapshot(`
      "stateDiagram-v2
        [*] --> shut
        state "shut" as shut
        state "open" as open
        shut --> open : OPEN
        open --> shut : SHUT
      --
      → 0"
    `);
    expect(await golden(['graph', fixture('sagas.ts'), '--export=script'])).toMatchInlineSnapshot(`
      "sequenceDiagram
          participant C as Client
          participant S as Server
          participant W as Outside world
          Note over C,S: turn 1
          C->>S: started refund {"amount":9}
          S-->>C: asked confirm: Refund 9?
          Note over C,S: turn 2
          C->>S: answered confirm: {"sure":true}
          S->>W: ran pay-back: 11
          S-->>C: completed: "refunded 9"
      --
      → 0"
    `);
    expect(await golden(['graph', fixture('charging.ts')])).toMatchInlineSnapshot(`
      "Invalid arguments for 'charging': amount: expected number. Pass the arguments of the saga as \`input\`: got none. Write testSaga(saga, { input: { … } }), sagaProperty(saga, { input: fc.record({ … }) }), or --input '{ … }' on the command line.
      Here: pass --input '{ … }', or export such a script.

      Draws a machine, or one run of a saga, as Mermaid or SVG.

        mcp-saga graph <file> [options]

        -e, --export NAME  export to draw (default: the only one)
            --svg          draws SVG (default: Mermaid)
            --input JSON   arguments of an exported saga; a script (testSaga) has its own
            --json         prints the result as JSON
        -h, --help         shows this text

      Example: mcp-saga graph order.machine.ts --svg > order.svg
      --
      → 2"
    `);
  });
});
