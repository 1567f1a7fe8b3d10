import {
  callSaga,
  cancelSaga,
  resumeSaga,
  SagaClientError,
  SagaGone,
  type SuspendedSaga,
} from '@mcp-saga/client';
import { backOff } from './steady-fetch.ts';
import { anything, connect, type Connected, type Kind } from './connect.ts';
import {
  judged,
  pollChance,
  RefusedCall,
  textOf,
  type Calling,
  type ToolText,
  type Way,
} from './way.ts';

const mostTries = 40;
const requestOptions = { timeout: 15_000 };

/**
 * The saga methods with `@mcp-saga/client`: stores answers, and resumes the saga after each
 * failure.
 */
export function sagaMethods(kind: Kind): Way {
  return {
    dialect: 'saga methods',
    client: kind,
    see: async (calling) => {
      const client = await connect(kind, calling, { capabilities: {}, sends: 'once' });
      try {
        return await seen(client, calling);
      } finally {
        await client.close();
      }
    },
  };
}

async function seen(
  client: Connected & Parameters<typeof callSaga>[0],
  calling: Calling,
): Promise<ToolText> {
  const { user, draw, tool: name, arguments: args } = calling;
  let older: SuspendedSaga | undefined;
  const options = {
    requestOptions,
    signal: user.left,
    handlers: {
      elicitation: async ({ message }: { message: string }) => (await user.fill(message)) as never,
      sampling: async ({ messages }: { messages: unknown }) =>
        (await user.writes(JSON.stringify(messages))) as never,
    },
    onTurn: async (saga: SuspendedSaga) => {
      if (user.habit === 'gives up' && saga.steps.length > 0) throw new Error('enough');
      if (saga.steps.length > 0 && draw() < pollChance) await poll(client, saga, user.left);
      if (user.habit !== 'goes back') return;
      if (older !== undefined) await goBack(client, older, user.left);
      older = saga.steps.length > 0 ? saga : older;
    },
  };
  let drawer: SuspendedSaga | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return textOf(
        drawer === undefined
          ? await callSaga(client, { name, arguments: args }, options)
          : await resumeSaga(client, drawer, options),
      );
    } catch (error) {
      user.left.throwIfAborted();
      if (error instanceof SagaGone) throw new RefusedCall('the token', { cause: error });
      if (!(error instanceof SagaClientError) || tries === mostTries) throw judged(error);
      drawer = error.saga;
      if (drawer !== undefined && error.code === 'saga_on_turn_failed')
        return await givenUp(client, drawer, calling);
      await backOff(draw, tries);
    }
  }
}

/**
 * Asks again without answers. The response is lost, as far as this client is concerned, so its
 * answer belongs to the token in hand.
 */
async function poll(client: Connected, saga: SuspendedSaga, signal: AbortSignal): Promise<void> {
  const { sagaToken } = JSON.parse(JSON.stringify(saga)) as { readonly sagaToken: string };
  const request = { method: 'tools/resumeSaga', params: { sagaToken, completedSteps: [] } };
  await client.request(request, anything, { ...requestOptions, signal }).catch(() => undefined);
}

/**
 * Declines an accepted question with an older token. The ledger shows if the server accepts the
 * token.
 */
async function goBack(client: Connected, saga: SuspendedSaga, signal: AbortSignal): Promise<void> {
  const { sagaToken } = JSON.parse(JSON.stringify(saga)) as { readonly sagaToken: string };
  const completedSteps = saga.steps.map(({ stepId }) => ({
    stepId,
    result: { action: 'decline' },
  }));
  const request = { method: 'tools/resumeSaga', params: { sagaToken, completedSteps } };
  await client.request(request, anything, { ...requestOptions, signal }).catch(() => undefined);
}

async function givenUp(
  client: Parameters<typeof cancelSaga>[0],
  saga: SuspendedSaga,
  { draw, user }: Calling,
): Promise<ToolText> {
  for (let tries = 1; ; tries += 1) {
    try {
      return textOf(
        await cancelSaga(client, saga, { requestOptions, signal: user.left, reason: 'enough' }),
      );
    } catch (error) {
      if (error instanceof SagaGone)
        throw new RefusedCall('the token, to cancel', { cause: error });
      if (tries === mostTries) throw error;
      await backOff(draw, tries);
    }
  }
}
