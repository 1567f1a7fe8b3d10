import {
  all,
  elicit,
  elicitUrl,
  listRoots,
  sample,
  saga,
  sleep,
  StepError,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { answerBy, type Answers } from '../fixtures/answer-by.ts';
import { connections, type Connected } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { Empty, Target } from '../fixtures/sagas.ts';

const question = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Safe?' } }],
  maxTokens: 9,
} as const;
const yes = { role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'test' };

const inSessions = connections.filter(({ name }) => name.includes('in memory'));

interface Called {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

async function called({ client }: Connected, name: string): Promise<Called> {
  return (await client.callTool({ name, arguments: {} })) as unknown as Called;
}

describe.each(inSessions)('push, $name', ({ connect }) => {
  async function connected(
    sagas: Parameters<typeof hostOf>[0],
    answers: Answers,
    options: Parameters<typeof hostOf>[1] = {},
  ): Promise<Connected & ReturnType<typeof hostOf>> {
    const made = hostOf(sagas, options);
    const connection = await connect(made.host);
    answerBy(connection.client, answers);
    return { ...made, ...connection };
  }

  test('[W1] asks the steps of one turn in parallel', async () => {
    const three = saga({ name: 'three', version: '1' }, function* () {
      const { where, verdict } = yield* all({
        where: elicit('where', { message: 'Where?', schema: Target }),
        verdict: sample('verdict', question),
      });
      return `${where.target}: ${verdict.content.type === 'text' ? verdict.content.text : ''}`;
    });
    const elicited = deferred<undefined>();
    const sampled = deferred<undefined>();
    // Each answer waits for the other question.
    const connection = await connected(three, {
      elicit: async () => {
        elicited.resolve(undefined);
        await sampled.promise;
        return { action: 'accept', content: { target: 'here' } };
      },
      sample: async () => {
        sampled.resolve(undefined);
        await elicited.promise;
        return yes;
      },
    });
    expect((await called(connection, 'three')).content).toEqual([
      { type: 'text', text: 'here: Yes.' },
    ]);
    await connection.close();
  });

  test('throws the error of a client into the saga, at the step', async () => {
    const caught = saga({ name: 'caught', version: '1' }, function* () {
      try {
        yield* sample('verdict', question);
        return 'answered';
      } catch (error) {
        if (!(error instanceof StepError)) throw error;
        return `${error.stepId}: ${error.message} (${error.code})`;
      }
    });
    const connection = await connected(caught, {
      sample: () => {
        throw Object.assign(new Error('no model today'), { code: -32_055 });
      },
    });
    expect((await called(connection, 'caught')).content[0]?.text).toBe(
      'verdict: no model today (-32055)',
    );
    await connection.close();
  });

  test('[W4] asks again with the reason, and stops asking a client that never fits the schema', async () => {
    const messages: string[] = [];
    let good = 3;
    const asking = saga({ name: 'asking', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return target;
    });
    const answers: Answers = {
      elicit: ({ message }) => {
        messages.push(message);
        const content = messages.length === good ? { target: 'here' } : { target: 7 };
        return { action: 'accept', content };
      },
    };
    const connection = await connected(asking, answers);
    expect((await called(connection, 'asking')).content[0]?.text).toBe('here');
    expect(messages[0]).toBe('Where?');
    expect(messages.slice(1)).toEqual([
      expect.stringMatching(/^Where\?\n\n\(target: /),
      expect.stringMatching(/^Where\?\n\n\(target: /),
    ]);

    good = Number.POSITIVE_INFINITY;
    messages.length = 0;
    const failed = await called(connection, 'asking');
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: "'asking' failed at step 'target'." }],
    });
    expect(messages).toHaveLength(10);
    await connection.close();
  });

  test('[W6] holds a short wait in the call, and ends the call at a long one', async () => {
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      yield* sleep(30);
      yield* sleep(3_600_000);
      return 'an hour later';
    });
    const connection = await connected(
      waiting,
      { elicit: () => ({ action: 'accept', content: {} }) },
      { clock: Object.assign(() => Date.now(), { now: 0 }), limits: { maxHold: 100 } },
    );
    expect(await called(connection, 'waiting')).toMatchObject({
      content: [{ text: expect.stringContaining('Wait 60 minutes') as string }],
      nextResumeToken: expect.any(String) as string,
    });
    await connection.close();
  });

  test('[W3] throws at the step that the client does not support', async () => {
    const connection = await connected(
      saga({ name: 'rooted', version: '1' }, function* () {
        yield* listRoots('roots');
        return 'rooted';
      }),
      {},
    );
    expect(await called(connection, 'rooted')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('roots') }],
    });
    await connection.close();
  });

  test('[W3] rejects a saga with unmet needs before anything runs, as a readable result', async () => {
    const { told, ...connection } = await connected(
      saga({ name: 'needy', version: '1', needs: ['elicitation.url', 'roots'] }, function* () {
        yield* elicitUrl('pay', { message: 'Pay', url: 'https://pay.example.com/1' });
        return 'paid';
      }),
      {},
    );
    expect(await called({ ...connection }, 'needy')).toMatchObject({
      isError: true,
      content: [
        {
          text: "'needy' needs elicitation.url and roots, which the client did not declare for this call.",
        },
      ],
    });
    expect(told.turns).toEqual([]);
    await connection.close();
  });
});
