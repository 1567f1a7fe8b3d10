import { connect, type Kind } from './connect.ts';
import { judged, pollChance, textOf, type Calling, type ToolText, type Way } from './way.ts';

interface Interim {
  readonly nextResumeToken?: string;
  readonly _meta?: { readonly 'io.github.mcp-saga/saga'?: { readonly steps?: readonly Step[] } };
}

interface Step {
  readonly stepId: string;
  readonly type: string;
  readonly params: { readonly message?: string; readonly messages?: unknown };
}

/**
 * Resume tokens: the server cannot ask this client, so the model repeats the call with the user's
 * answers.
 */
export function resumeToken(kind: Kind): Way {
  return {
    dialect: 'resume token',
    client: kind,
    see: async (calling) => {
      const client = await connect(kind, calling, { capabilities: {} });
      const { user, tool: name } = calling;
      const call = (args: object): Promise<unknown> => {
        const options = { signal: user.left, timeout: 60_000 };
        return kind === 'v1 client'
          ? client.callTool({ name, arguments: args }, undefined as never, options)
          : client.callTool({ name, arguments: args }, options);
      };
      try {
        return await resumed(call, calling);
      } catch (error) {
        user.left.throwIfAborted();
        throw judged(error);
      } finally {
        await client.close();
      }
    },
  };
}

async function resumed(
  call: (args: object) => Promise<unknown>,
  { arguments: args, user, draw }: Calling,
): Promise<ToolText> {
  let result = await call(args);
  for (let round = 0; round < 20; round += 1) {
    const { nextResumeToken, _meta: meta } = result as Interim;
    if (nextResumeToken === undefined) return textOf(result);
    const { steps = [] } = meta?.['io.github.mcp-saga/saga'] ?? {};
    // A model may call again before its user answers. It then answers with the token in hand.
    if (steps.length > 0 && draw() < pollChance)
      await call({ ...args, resumeToken: nextResumeToken });
    const answered = await Promise.all(
      steps.map(async ({ stepId, type, params }) => [
        stepId,
        type === 'sampling'
          ? (await user.writes(JSON.stringify(params.messages))).content.text
          : await user.fill(params.message ?? ''),
      ]),
    );
    result = await call({
      ...args,
      resumeToken: nextResumeToken,
      ...(answered.length === 0 ? {} : { answers: Object.fromEntries(answered) as object }),
    });
  }
  throw new Error('It never ends.');
}
