import {
  continueAs,
  elicit,
  memoryStore,
  promptSaga,
  saga,
  sleep,
  type Program,
  type PromptSaga,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { accepted, asked, handlerOf, refusedState, round } from '../fixtures/rounds.ts';
import { asking, Target } from '../fixtures/sagas.ts';

const request = { method: 'prompts/get', name: 'same' } as const;
const inputResponses = { target: accepted({ target: 'moon' }) };

function prompting(version: string, more: { previous?: Program } = {}): PromptSaga<undefined> {
  const { previous } = more;
  return promptSaga(
    {
      name: 'same',
      version,
      ...(previous === undefined ? {} : { previous: [{ saga: previous }] }),
    },
    function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return `${target} by ${version}`;
    },
  );
}

describe('a saga that serves a prompt', () => {
  test('[R5] continues in an older version beside a newer one', async () => {
    const { requestState } = asked(await round(handlerOf(hostOf(prompting('1')).host), request));
    const newer = handlerOf(hostOf(prompting('2', { previous: prompting('1') })).host);
    const { last } = await round(newer, request, { requestState, inputResponses });
    expect(last.result).toMatchObject({ messages: [{ content: { text: 'moon by 1' } }] });
    const started = await round(newer, request, { inputResponses });
    expect(started.last.result).toMatchObject({ messages: [{ content: { text: 'moon by 2' } }] });
  });

  test('[T13] is protected against a second use of its token by the guard', async () => {
    const { host } = hostOf(prompting('1'), { store: memoryStore({ clock: testClock() }) });
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, request));
    const first = await round(server, request, { requestState, inputResponses });
    const again = await round(server, request, { requestState, inputResponses });
    expect(first.last.result).toMatchObject({ messages: [{ content: { text: 'moon by 1' } }] });
    expect(again.last.result).toEqual(first.last.result);
    const mars = { target: accepted({ target: 'mars' }) };
    const fork = await round(server, request, { requestState, inputResponses: mars });
    expect(fork.last).toMatchObject(refusedState);
  });

  test('may continue as a prompt only', async () => {
    const over = promptSaga({ name: 'over', version: '1' }, function* () {
      yield* sleep(0);
      return yield* continueAs(prompting('1'), {});
    });
    const across = promptSaga({ name: 'across', version: '1' }, function* () {
      yield* sleep(0);
      return yield* continueAs(asking(), {});
    });
    const { host, told } = hostOf([over, across, prompting('1'), asking()]);
    const server = handlerOf(host);
    const overRequest = { method: 'prompts/get', name: 'over' } as const;
    const { requestState, keys } = asked(await round(server, overRequest));
    expect(keys).toEqual(['target@1']);
    const { last } = await round(server, overRequest, {
      requestState,
      inputResponses: { 'target@1': inputResponses.target },
    });
    expect(last.result).toMatchObject({ messages: [{ content: { text: 'moon by 1' } }] });
    const odd = await round(server, { method: 'prompts/get', name: 'across' });
    expect(odd.last.error).toMatchObject({ code: -32_603, message: "'across' failed." });
    expect(told.turns.at(-1)?.error).toMatchObject({
      message: "continueAs: 'asking' and 'across' must both be tools, prompts, or resources.",
    });
  });

  test('may only have older versions that serve a prompt', () => {
    const older = asking('same', '1');
    const newer = promptSaga(
      { name: 'same', version: '2', previous: [{ saga: older }] },
      function* () {
        yield* elicit('target', { message: 'Where?', schema: Target });
        return 'x';
      },
    );
    expect(() => hostOf(newer)).toThrow(
      "An older version of 'same' in `previous` is not a prompt.",
    );
    const tool = saga({ name: 'tool', version: '1' }, function* () {
      yield* sleep(0);
      return 'x';
    });
    expect(() => hostOf([tool, older])).not.toThrow();
  });
});
