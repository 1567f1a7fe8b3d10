import { testSaga, type SagaRun } from '@mcp-saga/testing';
import '@mcp-saga/testing/vitest';
import { beforeAll, describe, expect, it } from 'vitest';
import { order } from './sagas/order.ts';

let run: SagaRun;
let failed: SagaRun;

beforeAll(async () => {
  const script = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });
  run = await script.run();
  failed = await script.fail.step('ship', new Error('no truck')).run();
});

function messageOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('did not throw');
}

describe('matchers', () => {
  it('match lines by their start, and any lines by an ellipsis', () => {
    expect(run).toMatchSagaTrace(['…', 'ran charge', 'asked sure', '…']);
    expect(run).toMatchSagaTrace('started order\n...\ncompleted: "On its way"\n…');
    expect(run).not.toMatchSagaTrace('…\nran char\n…');
    expect(run).not.toMatchSagaTrace('started order');
  });

  it('show a diff of the differing lines only', () => {
    const thrown = (() => {
      try {
        expect(run).toMatchSagaTrace('started order\nran pay\nasked sure\n…');
      } catch (error) {
        return error as {
          readonly expected: string;
          readonly actual: string;
          readonly message: string;
        };
      }
      throw new Error('did not throw');
    })();
    expect(thrown.actual.split('\n')[1]).toBe('ran charge: {"id":"do:charge"}');
    const [expected, actual] = [thrown.expected.split('\n'), thrown.actual.split('\n')];
    expect(actual.filter((line) => !expected.includes(line))).toEqual([
      'ran charge: {"id":"do:charge"}',
    ]);
    expect(expected.filter((line) => !actual.includes(line))).toEqual(['ran pay']);
    expect(thrown.message).toContain('The trace differs. It was:\n\n    started order');
  });

  it('show the asked questions and steps that ran, with the trace', () => {
    expect(messageOf(() => expect(run).toHaveAsked('shure'))).toMatch(
      /^The saga was expected to ask 'shure'\. It asked 'sure'\. Did you mean 'sure'\?\n\n {4}turn 1 {2}started order/,
    );
    expect(messageOf(() => expect(run).not.toHaveAsked(['sure', 'other']))).toMatch(
      /was not expected to ask/,
    );
    expect(messageOf(() => expect(run).toHaveRun('charge', { times: 2 }))).toMatch(
      /to run 'charge' twice\. It ran 'charge' once\./,
    );
    expect(messageOf(() => expect(run).toHaveRun('pay'))).toMatch(
      /It ran 'charge', 'ship', 'thank'\./,
    );
    expect(messageOf(() => expect(failed).toHaveRun('ship'))).toMatch(
      /It ran 'ship' once, and it failed\./,
    );
  });

  it('[E3] show the undone steps, in order', () => {
    expect(failed).toHaveCompensated(['charge']);
    expect(failed).toLeaveNothingUncompensated();
    expect(messageOf(() => expect(failed).toHaveCompensated(['ship', 'charge']))).toMatch(
      /to undo 'ship', 'charge', in this order\. It undid 'charge'\./,
    );
    expect(messageOf(() => expect(run).toHaveCompensated(['charge']))).toMatch(
      /It did not fail: it was completed/,
    );
    expect(messageOf(() => expect(failed).not.toLeaveNothingUncompensated())).toMatch(
      /not expected to leave nothing undone/,
    );
  });

  it('accept only an ID or a list of IDs', () => {
    expect(failed).toHaveCompensated('charge');
    expect(run).toHaveAsked(['sure']);
    expect(run).toHaveRun(['charge', 'ship'], { times: 1 });
    expect(() => expect(run).not.toHaveRun(['pay', 'charge'])).toThrow("It ran 'charge' once.");
    const untyped = (subject: object): { [matcher: string]: (...given: unknown[]) => void } =>
      expect(subject) as never;
    for (const matcher of ['toHaveAsked', 'toHaveCompensated'])
      expect(() => untyped(failed)[matcher]?.('charge', 'ship')).toThrow(
        /takes an ID or a list of IDs/,
      );
    expect(() => untyped(run)['toHaveRun']?.('charge', 2)).toThrow(/must be an object of times/);
    expect(() => untyped(run)['toHaveRun']?.('charge', { time: 2 })).toThrow(
      /Did you mean 'times'\?/,
    );
  });

  it('report a missing await', () => {
    expect(() => expect(testSaga(order, { input: { cents: 1 } })).toHaveRun('x')).toThrow(
      'Check for a missing await.',
    );
  });
});
