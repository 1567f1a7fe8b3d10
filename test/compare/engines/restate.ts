import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Json, SagaHost, SagaTurn, StepAnswer } from '@mcp-saga/server';
import { plain } from './durable-function.ts';

// The used part of its API, since it is not a dependency of the workspace.
interface Shared {
  get(name: string): Promise<unknown>;
  promise(name: string): PromiseLike<Json> & {
    resolve(value: unknown): Promise<void>;
  };
}
interface Context extends Shared {
  readonly key: string;
  run<Result>(name: string, action: () => Promise<Result>): Promise<Result>;
  sleep(ms: number): Promise<void>;
  set(name: string, value: unknown): void;
}
/** The used part of `@restatedev/restate-sdk`. */
export interface Restate {
  workflow(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, (ctx: Context, input: never) => Promise<unknown>>>;
  }): object;
  createEndpointHandler(options: {
    readonly services: readonly object[];
    readonly logger: () => void;
  }): (request: Http2ServerRequest, response: Http2ServerResponse) => void;
}

const caller = {
  principal: { subject: 'ada', client: 'shop' },
  capabilities: { elicitation: { form: {} } },
};

interface Answer {
  readonly id: string;
  readonly result: unknown;
}

export function workflowOf(restate: Restate, host: SagaHost, name: string): object {
  // #region driver
  const workflow = restate.workflow({
    name,
    handlers: {
      run: async (ctx: Context, args: object): Promise<SagaTurn> => {
        const request = { caller, idempotencyKey: ctx.key };
        let turn = await ctx.run('turn 1', async () =>
          plain(await host.start(name, args, request)),
        );
        for (let n = 2; turn.status === 'suspended'; n += 1) {
          const { token, steps, retryAfterMs = 1_000 } = turn;
          const questions = steps.map((question) => ({ id: `${n} ${question.stepId}`, question }));
          ctx.set('questions', questions);
          if (steps.length === 0) await ctx.sleep(retryAfterMs);
          const answers: StepAnswer[] = [];
          for (const { id, question } of questions)
            answers.push({ stepId: question.stepId, result: await ctx.promise(id) });
          turn = await ctx.run(`turn ${n}`, async () =>
            plain(await host.resume(token, answers, { caller })),
          );
        }
        return turn;
      },
      questions: (ctx: Shared) => ctx.get('questions'),
      answer: (ctx: Shared, { id, result }: Answer) => ctx.promise(id).resolve(result),
    },
  });
  // #endregion driver
  return workflow;
}
