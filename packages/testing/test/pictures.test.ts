import { sagaCoverage, testSaga } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { deploy } from './sagas/deploy.ts';
import { order } from './sagas/order.ts';
import { shop } from './sagas/shop.ts';

beforeEach(() => shop.reset());

const bought = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });

describe('the diagram of a run', () => {
  it('shows its turns between client, server, and world', async () => {
    const run = await bought.fail.step('ship', new Error('no truck; sorry')).run();

    expect(run.toMermaid()).toMatchInlineSnapshot(`
      "sequenceDiagram
          participant C as Client
          participant S as Server
          participant W as Outside world
          Note over C,S: turn 1
          C->>S: started order {"cents":900}
          Note over C,S: turn 2
          S->>W: ran charge: {"id":"do:charge"}
          S-->>C: asked sure: Ship it?
          Note over C,S: turn 3
          C->>S: answered sure: {"sure":true}
          S-xW: failed ship: Error: no truck#59; sorry
          S->>W: undid charge
          S--xC: in the log: failed: Error: no truck#59; sorry
      "
    `);
  });

  it('shows dropped responses, refusals, and forks', async () => {
    const run = await bought.lose.response(3).run();
    expect(run.toMermaid()).toContain('S--xC: lost the response');
    const forked = await run.at('sure').fork({ sure: false });
    expect(forked.toMermaid()).toContain('C->>S: went back to sure');
    expect(forked.toMermaid()).toContain('S--xC: in the log: was refused: used');
    const late = await bought.timeout.step('charge').run();
    expect(late.toMermaid()).toContain('Note over C,S: waited 10000 ms');
    const crashed = await bought.crash.after('charge').run();
    expect(crashed.toMermaid()).toContain('S-xW: crashed after charge');
  });
});

describe('the picture of a run', () => {
  it('is SVG with a row for each event, and a mark for each turn', async () => {
    const run = await bought.fail.step('ship', new Error('no truck')).run();
    const svg = run.toSvg();
    expect(svg).toContain('<title>order</title>');
    expect(svg.match(/marker-end=/g)).toHaveLength(run.trace.length);
    expect(svg.match(/>turn \d<\/text>/g)).toEqual([
      '>turn 1</text>',
      '>turn 2</text>',
      '>turn 3</text>',
    ]);
    expect(svg).toContain('>ran charge: {"id":"do:charge"}</text>');
  });

  it('draws the effect before a crash, and none if the process died before', async () => {
    const arrows = async (when: 'before' | 'after'): Promise<number> =>
      (await bought.crash[when]('charge').run()).toSvg().match(/marker-end=/g)?.length ?? 0;
    expect(await arrows('after')).toBe((await arrows('before')) + 1);
  });

  it('escapes markup in names and values', async () => {
    const run = await bought.fail.step('ship', new Error('<b> & </b>\0\u{d800}\uffff')).run();
    expect(run.toSvg()).not.toMatch(/<b>| & |\0|\uffff|\p{Cs}/u);
    expect(run.toSvg()).toContain('&lt;b&gt; &amp;');
  });

  it('shows characters of values that nobody sees', async () => {
    const run = await bought.fail.step('ship', new Error('pay \u202E01\u200B')).run();
    expect(run.toSvg()).not.toMatch(/[\u202E\u200B]/);
  });
});

describe('the coverage of a test file', () => {
  it('counts outcomes over all runs, and lists the missing outcomes', async () => {
    const coverage = sagaCoverage();
    await bought.run();
    await bought.refuse.elicit('sure').run();
    await bought.fail.step('charge', new Error('busy'), { times: 1 }).run();
    await testSaga(deploy, { input: { service: 'web' } })
      .refuse.elicit('target', 'cancel')
      .run();
    coverage.stop();
    await bought.fail.step('ship', new Error('no truck')).run();

    expect(String(coverage)).toMatchInlineSnapshot(`
      "order, 3 runs
        charge  ran 3, failed 1, undone 1
        sure    answered 2, declined 1, never dismissed
        ship    ran 2, never failed
        thank   ran 2, never failed

      deploy, 1 run
        target  dismissed 1, never answered, never declined"
    `);
    expect(coverage.missing).toEqual([
      'order: sure is never dismissed',
      'order: ship never fails',
      'order: thank never fails',
      'deploy: target is never answered',
      'deploy: target is never declined',
    ]);
  });

  it('does not count an answer that the host rejects', async () => {
    const coverage = sagaCoverage();
    const wrong = bought.on.elicit('sure', ({ reason }) =>
      reason === undefined ? { sure: 'perhaps' } : 'decline',
    );
    const { trace } = await wrong.run();
    coverage.stop();
    expect(trace.lines).toContain('answered sure: {"sure":"perhaps"}');
    expect(coverage.sagas[0]?.steps.find(({ id }) => id === 'sure')?.seen).toEqual({ declined: 1 });
  });
});
