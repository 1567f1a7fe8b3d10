import type { Client } from '@modelcontextprotocol/client';
import { backOff } from './steady-fetch.ts';
import { answersOf, anything, canAsk, connect } from './connect.ts';
import { judged, textOf, type Arguments, type Calling, type ToolText, type Way } from './way.ts';

const mostTries = 40;

/** Resumable requests: resumes with the newest token after a cut connection. */
export const resumableRequests: Way = {
  dialect: 'resumable requests',
  client: 'v2 client, 2026-07-28',
  see: async (calling) => {
    const connected = await connect('v2 client, 2026-07-28', calling, {
      capabilities: { ...canAsk, resumableRequests: {} },
      sends: 'once',
      answers: answersOf(calling),
    });
    try {
      return await seen(connected as unknown as Client, calling);
    } finally {
      await connected.close();
    }
  },
};

async function seen(client: Client, calling: Calling): Promise<ToolText> {
  const { user, draw, tool: name, arguments: args } = calling;
  let token: string | undefined;
  let id: number | undefined;
  client.setNotificationHandler(
    'notifications/requests/resumePolicy',
    { params: anything as never },
    (params: unknown) => {
      ({ resumeToken: token, requestId: id } = params as {
        readonly resumeToken: string;
        readonly requestId: number;
      });
    },
  );
  const options = { signal: user.left, timeout: 15_000 };
  let call: { name: string; arguments: Arguments } = { name, arguments: args };
  // Input for a resumed request. The call is sent again with this input, and continues in rounds.
  let needed: object | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      let result: unknown;
      if (token === undefined || needed !== undefined) {
        const params = { ...call, ...needed };
        needed = undefined;
        result = await client.callTool(params, options);
      } else {
        // A resumed request keeps its ID, but the SDK counts IDs itself.
        Reflect.set(client, '_requestMessageId', id);
        const resume = { method: 'requests/resume', params: { resumeToken: token } };
        result = await client.request(resume, anything as never, options);
      }
      const { nextResumeToken: resumeToken } = result as { readonly nextResumeToken?: string };
      if (resumeToken === undefined) return textOf(result);
      // The call has ended, but its saga has not: another call continues the saga.
      token = undefined;
      call = { name, arguments: { ...args, resumeToken } };
    } catch (error) {
      user.left.throwIfAborted();
      const { data } = Object(error) as { readonly data?: Needed };
      if (data?.reason === 'input_required') {
        needed = { requestState: data.requestState, inputResponses: await answered(calling, data) };
        continue;
      }
      const problem = judged(error);
      if (problem !== error || tries === mostTries) throw problem;
      await backOff(draw, tries);
    }
  }
}

interface Needed {
  readonly reason?: string;
  readonly requestState?: string;
  readonly inputRequests?: {
    readonly [key: string]: {
      readonly method: string;
      readonly params: { readonly message?: string; readonly messages?: unknown };
    };
  };
}

async function answered({ user }: Calling, { inputRequests = {} }: Needed): Promise<object> {
  const answers = await Promise.all(
    Object.entries(inputRequests).map(async ([key, { method, params }]) => [
      key,
      method === 'sampling/createMessage'
        ? await user.writes(JSON.stringify(params.messages))
        : await user.fill(params.message ?? ''),
    ]),
  );
  return Object.fromEntries(answers) as object;
}
