import { sagaCoverage, testSaga } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { deploy } from './sagas/deploy.ts';
import { order } from './sagas/order.ts';
import { shop } from './sagas/shop.ts';

beforeEach(() => shop.reset());

const bought = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });

describe('a picture of a run', () => {
  it('shows its turns between client, server and world', async () => {
    const run = await bought.fail.step('ship', new Error('no truck; sorry')).run();

    expect(run.toMermaid()).toMatchInlineSnapshot(`
      "sequenceDiagram
          participant C as Client
          participant S as Server
          participant W as World
          Note over C,S: turn 1
          C->>S: order {"cents":900}
          Note over C,S: turn 2
          S->>W: charge
          W-->>S: {"id":"do:charge"}
          S-->>C: sure, Ship it?
          Note over C,S: turn 3
          C->>S: sure {"sure":true}
          S->>W: ship
          W--xS: Error: no truck#59; sorry
          S->>W: undo charge
          W-->>S: undone
          S--xC: failed, Error: no truck#59; sorry
      "
    `);
  });

  it('shows what is lost, refused and gone back to', async () => {
    const run = await bought.lose.response(3).run();
    expect(run.toMermaid()).toContain('S--xC: response lost');
    const forked = await run.at('sure').fork({ sure: false });
    expect(forked.toMermaid()).toContain('Note over C: goes back to sure');
    expect(forked.toMermaid()).toContain('S--xC: refused, ');
    const late = await bought.timeout.step('charge').run();
    expect(late.toMermaid()).toContain('Note over S: waits 10000 ms');
  });
});

describe('what a test file has seen of its sagas', () => {
  it('is counted over its runs, with what no run has shown', async () => {
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
    expect(coverage.toMermaid()).toMatchInlineSnapshot(`
      "flowchart TD
          subgraph saga0["order"]
              s0n0["start"] -->|3| s0n1["charge"]
              s0n1 -->|3| s0n2["sure"]
              s0n2 -->|2| s0n3["ship"]
              s0n2 -->|1| s0n4["undo charge"]
              s0n3 -->|2| s0n5["thank"]
              s0n5 -->|2| s0n6["completed"]
              s0n4 -->|1| s0n7["failed"]
              s0n2 -.-> s0n2cancelled["never dismissed"]
              s0n3 -.-> s0n3failed["never failed"]
              s0n5 -.-> s0n5failed["never failed"]
          end
          subgraph saga1["deploy"]
              s1n0["start"] -->|1| s1n1["target"]
              s1n1 -->|1| s1n2["failed"]
              s1n1 -.-> s1n1answered["never answered"]
              s1n1 -.-> s1n1declined["never declined"]
          end
      "
    `);
  });
});
