import {
  all,
  checkpoint,
  ClientCannot,
  elicit,
  poll,
  sample,
  saga,
  sleep,
  step,
  type Program,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { tickingClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { accepted, asked, handlerOf, round } from '../fixtures/rounds.ts';
import { Target } from '../fixtures/sagas.ts';

const target = accepted({ target: 'moon' });

function call(saga_: Program): { readonly method: 'tools/call'; readonly name: string } {
  return { method: 'tools/call', name: saga_.name };
}

describe('the needs of a saga', () => {
  const ran: string[] = [];
  const needing = saga(
    { name: 'needing', version: '1', needs: ['elicitation.url', 'sampling'] },
    function* () {
      yield* step('effect', () => {
        ran.push('effect');
      });
      return 'ran';
    },
  );

  test.each([
    [{ elicitation: {} }, { elicitation: { url: {} }, sampling: {} }],
    [{ elicitation: { url: {} } }, { sampling: {} }],
    [{ sampling: {} }, { elicitation: { url: {} } }],
    [{ roots: {} }, { elicitation: { url: {} }, sampling: {} }],
  ])('[W3] are checked before anything runs: %j', async (capabilities, requiredCapabilities) => {
    const { host, told } = hostOf(needing);
    const { last, status, text } = await round(handlerOf(host), call(needing), { capabilities });
    expect(status).toBe(400);
    expect(last.error).toMatchObject({ code: -32_021, data: { requiredCapabilities } });
    expect(text).not.toContain('requestState');
    expect([ran, told.turns, told.steps]).toEqual([[], [], []]);
  });

  test('[W3] that a client lacks cause no advice to the author, who has declared them', async () => {
    const testing = { environment: 'development' };
    const { host, told } = hostOf(needing, { testing });
    await round(handlerOf(host), call(needing), { capabilities: {} });
    expect(told.warnings).toEqual([]);
  });

  test('[W3] that are not declared cause ClientCannot at the step, which the body can catch', async () => {
    const trying = saga({ name: 'trying', version: '1' }, function* () {
      try {
        yield* sample('ask-model', { messages: [], maxTokens: 1 });
      } catch (error) {
        if (!(error instanceof ClientCannot)) throw error;
        const answer = yield* elicit('target', {
          message: `No ${error.need}. Where?`,
          schema: Target,
        });
        return answer.target;
      }
      return 'sampled';
    });
    const server = handlerOf(hostOf(trying).host);
    const capabilities = { elicitation: {} };
    const { requestState, requests } = asked(await round(server, call(trying), { capabilities }));
    expect(requests).toMatchObject({ target: { params: { message: 'No sampling. Where?' } } });
    const { last } = await round(server, call(trying), {
      requestState,
      inputResponses: { target },
      capabilities,
    });
    expect(last.result).toMatchObject({ content: [{ text: 'moon' }] });
  });

  test('[W3] asks the client only for declared capabilities', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const { form } = yield* all({
        form: elicit('form', {
          message: 'Where?',
          schema: Target,
          fallback: { target: 'fallback' },
        }),
        model: sample('model', { messages: [], maxTokens: 1 }),
      });
      return form.target;
    });
    const { keys } = asked(
      await round(handlerOf(hostOf(both).host), call(both), { capabilities: { sampling: {} } }),
    );
    expect(keys).toEqual(['model']);
  });
});

describe('a state without requests', () => {
  test('[U4] is a checkpoint, and continues at once', async () => {
    const ran: string[] = [];
    const pausing = saga({ name: 'pausing', version: '1' }, function* () {
      yield* step('before', () => {
        ran.push('before');
      });
      yield* checkpoint();
      yield* step('after', () => {
        ran.push('after');
      });
      return 'done';
    });
    const server = handlerOf(hostOf(pausing).host);
    const { result, requestState } = asked(await round(server, call(pausing)));
    expect(result).not.toHaveProperty('inputRequests');
    const { last } = await round(server, call(pausing), { requestState });
    expect(last.result).toMatchObject({ content: [{ text: 'done' }] });
    expect(ran).toEqual(['before', 'after']);
  });

  test('[E1] is sent before the first step with an undo', async () => {
    const ran: string[] = [];
    const careful = saga({ name: 'careful', version: '1', reuse: 'ok' }, function* () {
      yield* step('read', () => void ran.push('read'));
      yield* step('effect', () => void ran.push('effect'), { compensate: () => undefined });
      return 'done';
    });
    const server = handlerOf(hostOf(careful).host);
    const { requestState } = asked(await round(server, call(careful)));
    expect(ran).toEqual(['read']);
    const { last } = await round(server, call(careful), { requestState });
    expect(last.result).toMatchObject({ content: [{ text: 'done' }] });
  });

  test('[W6] is sent for the rest of a wait that was held for the maximum time', async () => {
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* sleep(100);
      return 'waited';
    });
    const clock = tickingClock();
    const server = handlerOf(hostOf(waiting, { clock, limits: { maxHold: 20 } }).host);
    const { result, requestState } = asked(await round(server, call(waiting)));
    expect(result).not.toHaveProperty('inputRequests');
    clock.now += 100;
    const { last } = await round(server, call(waiting), { requestState });
    expect(last.result).toMatchObject({ content: [{ text: 'waited' }] });
  });

  test('[W6] is followed by a resume token after the last round of the client', async () => {
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* sleep(60_000);
      return 'waited';
    });
    const { host } = hostOf(waiting, { limits: { maxHold: 20 } });
    const { last } = await round(handlerOf(host), call(waiting));
    expect(last.result).toMatchObject({
      resultType: 'complete',
      nextResumeToken: expect.any(String),
    });
  });

  test('[W6] reports the wait, and the last round ends the call', async () => {
    const watching = saga({ name: 'watching', version: '1' }, function* () {
      return yield* poll('build', () => undefined as string | undefined, {
        every: 5,
        timeout: 600_000,
        report: 'The build runs',
      });
    });
    const { host } = hostOf(watching, {
      clock: tickingClock(),
      limits: { maxHold: 10 },
    });
    const server = handlerOf(host);
    let { last } = await round(server, call(watching));
    expect(last.result?.['_meta']).toMatchObject({
      'io.github.mcp-saga/saga': { content: ['The build runs'] },
    });
    let rounds = 0;
    while (last.result?.['resultType'] === 'input_required') {
      rounds += 1;
      ({ last } = await round(server, call(watching), {
        requestState: last.result['requestState'],
      }));
    }
    expect(rounds).toBe(9);
    expect(last.result).toMatchObject({
      content: [{ text: 'The build runs' }, { text: expect.stringContaining('not finished') }],
      nextResumeToken: expect.any(String),
    });
  });
});

describe('the rounds of a client', () => {
  const curious = (questions: number): Program =>
    saga({ name: 'curious', version: '1' }, function* () {
      for (let at = 0; at < questions; at += 1) {
        yield* elicit('target', { message: 'Where?', schema: Target });
      }
      return 'known';
    });

  test.each([
    [6, 0],
    [7, 1],
    [9, 1],
  ])(
    '[W6] of %i questions cause %i warnings to the author before the last round',
    async (questions, times) => {
      const program = curious(questions);
      const { host, told } = hostOf(program);
      const server = handlerOf(host);
      let { last } = await round(server, call(program));
      while (last.result?.['resultType'] === 'input_required') {
        const { requestState, inputRequests } = last.result;
        const keys = Object.keys(inputRequests as object);
        const inputResponses = Object.fromEntries(keys.map((key) => [key, target]));
        ({ last } = await round(server, call(program), { requestState, inputResponses }));
      }
      expect(last.result).toMatchObject({ content: [{ text: 'known' }] });
      expect(told.warnings).toEqual(
        Array.from(
          { length: times },
          () =>
            "Saga 'curious' has reached round 7. Clients abandon a call after 9 rounds. Ask several questions at " +
            'once, with all({ … }).',
        ),
      );
    },
  );

  const askedAgain = ' See docs/reference/troubleshooting.md#a-question-is-asked-again-and-again';

  test.each([
    ['production', 'Set NODE_ENV=development to see the reasons. '],
    ['development', /^.{10,}$/],
  ])(
    '[W6] of one question in %s report to the author that its answers do not match',
    async (environment, why) => {
      const program = curious(1);
      const { host, told } = hostOf(program, {
        testing: { environment },
      });
      const server = handlerOf(host);
      let { last } = await round(server, call(program));
      let stepId = '';
      for (let times = 0; times < 7; times += 1) {
        const { requestState, inputRequests } = last.result ?? {};
        [stepId = ''] = Object.keys(inputRequests as object);
        const inputResponses = { [stepId]: { action: 'accept', content: { other: 1 } } };
        ({ last } = await round(server, call(program), { requestState, inputResponses }));
      }
      const said = told.warnings.filter((warning) => warning.includes('round 7'));
      const about =
        "Saga 'curious' has reached round 7. Clients abandon a call after 9 rounds. " +
        `The answers to '${stepId}' were not accepted. `;
      expect(said).toEqual([expect.stringContaining(about)]);
      expect(said[0]?.slice(about.length)).toMatch(why);
      expect(said[0]?.endsWith(askedAgain)).toBe(true);
    },
  );

  test('[W6] of a question that varies report to the author that it changed, not its answers', async () => {
    let times = 0;
    const program = saga({ name: 'varies', version: '1' }, function* () {
      times += 1;
      yield* elicit('target', { message: `Where, at ${times}?`, schema: Target });
      return 'known';
    });
    const { host, told } = hostOf(program);
    const server = handlerOf(host);
    let { last } = await round(server, call(program));
    for (let rounds = 0; rounds < 7; rounds += 1) {
      const { requestState } = last.result ?? {};
      ({ last } = await round(server, call(program), {
        requestState,
        inputResponses: { target },
      }));
    }
    const [said, ...others] = told.warnings.filter((warning) => warning.includes('round 7'));
    expect(others).toEqual([]);
    expect(said).toContain("The question 'target' changed");
    expect(said).toContain('now()');
    expect(said).not.toContain('not accepted');
    expect(said?.endsWith(askedAgain)).toBe(true);
  });
});
