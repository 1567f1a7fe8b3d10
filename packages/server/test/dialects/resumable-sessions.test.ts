import { all, checkpoint, elicit, memoryStore, saga, sleep } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { testClock } from '../fixtures/clock.ts';
import { connections } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { five, policy, type Did } from '../fixtures/five.ts';
import { hostOf } from '../fixtures/host.ts';
import type { RawMessage } from '../fixtures/raw.ts';
import { noting, Target } from '../fixtures/sagas.ts';

/** Lets every result through, in the form of either version of the SDK. */
const anyResult = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
  parse: (data: unknown) => data,
};

interface Requests {
  request(request: object, schema: unknown, more?: object): Promise<object>;
  fallbackNotificationHandler?: (notification: RawMessage) => Promise<void>;
}

// No caller is authenticated here.
const resumableRequests = { anonymous: { resumableRequests: 'accept' } } as const;

const sessions = connections.filter(
  ({ name, stateless }) => stateless !== true && name.includes('in memory'),
);

describe.each(sessions)('resumable requests in a session, $name', ({ connect }) => {
  const options = {
    capabilities: {
      elicitation: { form: {} },
      sampling: {},
      resumableRequests: {},
    },
  };
  const toolCall = { method: 'tools/call', params: { name: 'noting', arguments: {} } };

  test('[W1] [E1] [P2] a call cut at a question continues in another session, which gets the question', async () => {
    const keys = new Map<string, string[]>();
    const near = await connect(hostOf(noting(keys), resumableRequests).host, options);
    const client = near.client as unknown as Requests;
    const tokens: string[] = [];
    client.fallbackNotificationHandler = ({ method, params }) => {
      if (method === policy) tokens.push(String(params?.['resumeToken']));
      return Promise.resolve();
    };
    const questions: string[] = [];
    const isAsked = deferred<undefined>();
    const never = deferred<never>();
    answerBy(near.client, {
      elicit: ({ message }) => {
        questions.push(message);
        if (message === 'First?') return { action: 'accept', content: { target: 'a' } };
        isAsked.resolve(undefined);
        return never.promise;
      },
    });
    const lost = client.request(toolCall, anyResult).catch((error: unknown) => error);
    await isAsked.promise;
    await near.close();
    expect(await lost).toBeInstanceOf(Error);
    // Before the first step and after it, with the answer and after the step that follows.
    expect(tokens).toHaveLength(4);

    const far = await connect(hostOf(noting(keys), resumableRequests).host, options);
    answerBy(far.client, {
      elicit: ({ message }) => {
        questions.push(message);
        return { action: 'accept', content: { target: 'b' } };
      },
    });
    const resumed = { method: 'requests/resume', params: { resumeToken: tokens.at(-1) } };
    expect(await (far.client as unknown as Requests).request(resumed, anyResult)).toMatchObject({
      content: [{ type: 'text', text: 'noted' }],
    });
    expect(questions).toEqual(['First?', 'Second?', 'Second?']);
    for (const [, used] of keys) expect(used).toHaveLength(1);
    expect([...keys.keys()]).toEqual(['before', 'between', 'item(a)', 'item(b)']);
    await far.close();
  });

  test.each([
    [{ resumableRequests: {} }, true],
    [{ experimental: { resumableRequests: {} } }, true],
    [{ resumableRequests: true }, false],
    [{ experimental: {} }, false],
  ])('[W2] a client that declares %j gets tokens: %j', async (capabilities, isTold) => {
    const { host } = hostOf(noting(new Map()), resumableRequests);
    const { client, close } = await connect(host, {
      capabilities: { elicitation: { form: {} }, ...capabilities },
    });
    const requests = client as unknown as Requests;
    let told = 0;
    requests.fallbackNotificationHandler = async ({ method }) => {
      if (method === policy) told += 1;
    };
    answerBy(client, { elicit: () => ({ action: 'accept', content: { target: 'a' } }) });
    await requests.request(toolCall, anyResult);
    expect(told > 0).toBe(isTold);
    await close();
  });

  test('[T5] rejects the token of a cancelled saga, and an invalid token', async () => {
    const store = memoryStore();
    const pay = saga({ name: 'noting', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Target });
      return 'paid';
    });
    const { host, told } = hostOf(pay, { store, ...resumableRequests });
    const { client, close } = await connect(host, options);
    const requests = client as unknown as Requests;
    const tokens: string[] = [];
    requests.fallbackNotificationHandler = ({ params }) => {
      tokens.push(String(params?.['resumeToken']));
      return Promise.resolve();
    };
    const isAsked = deferred<undefined>();
    const answer = deferred<object>();
    answerBy(client, {
      elicit: () => {
        isAsked.resolve(undefined);
        return answer.promise;
      },
    });
    const called = requests.request(toolCall, anyResult).catch((error: unknown) => error);
    await isAsked.promise;
    const [token = ''] = tokens;
    await host.cancel(token);
    const resumed = { method: 'requests/resume', params: { resumeToken: token } };
    for (const params of [resumed.params, { resumeToken: 'none' }]) {
      expect(
        await requests.request({ ...resumed, params }, anyResult).catch((e: unknown) => e),
      ).toMatchObject({ code: -32602, data: { reason: 'invalid_resume_token' } });
    }
    answer.resolve({ action: 'accept', content: { target: 'a' } });
    expect(await called).toMatchObject({ code: -32602 });
    expect(told.rejections.map(({ reason }) => reason)).toContain('used');
    await close();
  });

  test('[W5] progress increases over a request that is cut and resumed, with the token of each', async () => {
    const clock = testClock();
    const did: Did = new Map();
    const told: number[] = [];
    let token = '';
    const note = (requests: Requests): void => {
      requests.fallbackNotificationHandler = ({ method, params }) => {
        if (method === policy) token = String(params?.['resumeToken']);
        return Promise.resolve();
      };
    };
    const stuck = deferred<undefined>();
    const isStuck = deferred<undefined>();
    const near = await connect(
      hostOf(
        five(did, clock, async (name) => {
          if (name !== 'three') return;
          isStuck.resolve(undefined);
          await stuck.promise;
        }),
        { clock, ...resumableRequests },
      ).host,
      options,
    );
    note(near.client as unknown as Requests);
    const onprogress = ({ progress: value }: { readonly progress: number }): unknown =>
      told.push(value);
    const asked = { method: 'tools/call', params: { name: 'five', arguments: {} } };
    const lost = (near.client as unknown as Requests)
      .request(asked, anyResult, { onprogress })
      .catch(() => undefined);
    await isStuck.promise;
    await near.close();
    stuck.resolve(undefined);
    await lost;
    const before = told.length;
    expect(before).toBeGreaterThan(0);
    const far = await connect(
      hostOf(five(did, clock), { clock, ...resumableRequests }).host,
      options,
    );
    const resumed = { method: 'requests/resume', params: { resumeToken: token } };
    await (far.client as unknown as Requests).request(resumed, anyResult, { onprogress });
    expect(told.length).toBeGreaterThan(before);
    expect(told).toEqual([...new Set(told)].toSorted((one, other) => one - other));
    expect(did.get('two')).toHaveLength(1);
    await far.close();
  });

  test('[T13] a call that is repeated after its timer continues from the previous answer', async () => {
    const clock = testClock();
    const racing = saga({ name: 'racing', version: '1' }, function* () {
      yield* checkpoint('a page');
      yield* all({
        wait: sleep(30_000),
        form: elicit('form', { message: 'Where?', schema: Target }),
      });
      return 'done';
    });
    const wait = async (ms: number): Promise<void> => void (clock.now += ms);
    const made = hostOf(racing, {
      ...resumableRequests,
      clock,
      testing: { sleep: wait },
      store: memoryStore({ clock }),
    });
    const { client, close } = await connect(made.host, options);
    answerBy(client, { elicit: () => ({ action: 'accept', content: { target: 'a' } }) });
    const { nextResumeToken: resumeToken } = (await client.callTool({
      name: 'racing',
      arguments: {},
    })) as {
      readonly nextResumeToken?: unknown;
    };
    for (const _ of ['once', 'again'])
      expect(await client.callTool({ name: 'racing', arguments: { resumeToken } })).toMatchObject({
        content: [{ text: 'done' }],
      });
    await close();
  });
});
