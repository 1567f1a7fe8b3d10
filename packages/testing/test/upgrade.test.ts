import { replayRecording, testSaga, upgradeEverywhere } from '@mcp-saga/testing';
import { checkpoint, elicit, sample, saga, type Program } from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { messageOf } from './support/error-of.ts';

const When = z.object({ date: z.string() });

function greets(message: string, maxTokens: number) {
  return saga({ name: 'greets', version: '1' }, function* () {
    const { date } = yield* elicit('date', { message, schema: When });
    const content = {
      type: 'text',
      text: 'A birthday greeting for Ann, in one line, with content.',
    } as const;
    yield* sample('greeting', { messages: [{ role: 'user', content }], maxTokens });
    yield* checkpoint();
    return date;
  });
}

/** Asks in a state, and goes on to another one. */
function cake(first: string, invoked: string): Program {
  const machine = setup({
    actors: { ask: elicitInMachine({ message: 'When?', schema: When }) },
  }).createMachine({
    id: 'cake',
    initial: first,
    states: {
      [first]: { invoke: { id: invoked, src: 'ask', onDone: 'done' } },
      done: { type: 'final' },
    },
  });
  return machineSaga({ name: 'cake', version: '1', forks: 'accept' }, machine);
}

const script = testSaga(greets('When?', 60)).on.elicit('date', { date: 'now' }).on.sample('greeting', 'Hi');

describe('[R3] a saga in flight that new code cannot go on with', () => {
  it('is told of with the texts of both, where a question was worded anew', async () => {
    const message = await messageOf(upgradeEverywhere(script, greets('When, dear?', 60)));
    expect(message).toContain(
      "recorded: elicit 'date': When?\n        now asks: elicit 'date': When, dear? (with other content)",
    );
    expect(message).toContain("yield* patched('…')");
  });

  it('is told that what is not to be seen differs, where the texts are the same', async () => {
    const line = 'A birthday greeting for Ann, in one line, with content.';
    const upgraded = await messageOf(upgradeEverywhere(script, greets('When?', 99)));
    expect(upgraded).toContain(
      `now asks: sample 'greeting': ${line} (the same text: what else it asks with differs)`,
    );
    const { recording } = await script.run();
    const replayed = await messageOf(replayRecording(recording, [greets('When?', 99)]));
    expect(replayed.replaceAll(/ \|| {2,}/g, ' ')).toContain('(the same text');
    // Lines are broken between words.
    expect(replayed).toMatch(/for Ann, in one line, +\|.*\n +with content\. +\|/);
  });

  it('is told what does not fit, where a machine was changed', async () => {
    const asked = testSaga(cake('asking', 'day')).on.elicit('day', { date: 'now' });
    const message = await messageOf(upgradeEverywhere(asked, cake('asking', 'date')));
    expect(message).toContain(
      "The machine of saga 'cake' was changed, and a saga under way does not fit it any more: ",
    );
    expect(message).toMatch(/no active state invokes the actor 'day' any more/);
    expect(message).toContain('the ids of what they invoke there, must stay');
    expect(message).not.toContain('patched');
    expect(message).not.toContain("machine ''");
  });
});
