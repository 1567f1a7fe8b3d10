import { answersOf, canAsk, connect, type Connected, type Kind } from './connect.ts';
import { calledToTheEnd, judged, type Way } from './way.ts';

/**
 * Push: the server asks during the call, in a session that lives in one process. If that process
 * dies, the call fails or hangs. The client repeats the call in a new session as a new saga, and
 * the queue cancels the first saga.
 *
 * A user that vanishes silently closes the connection while the server asks. The client sends no
 * notification that the call is cancelled, as it would for an aborted signal.
 */
export function push(kind: Kind, server: 1 | 2): Way {
  return {
    dialect: 'push',
    client: `${kind}, v${server} server`,
    see: async (calling) => {
      const { tool: name, arguments: args, user } = calling;
      const answers = answersOf(calling);
      const isSilent = user.habit === 'vanishes silently';
      // A disconnected user sends neither an answer nor an error.
      const unlessGone = (answer: Promise<object>): Promise<object> =>
        answer.catch((error: unknown) => {
          if (!user.left.aborted) throw error;
          if (isSilent) void client.close();
          return new Promise<never>(() => undefined);
        });
      const client: Connected = await connect(kind, calling, {
        path: `/sessions/${server}`,
        capabilities: canAsk,
        sends: 'once',
        answers: {
          form: (message) => unlessGone(answers.form(message)),
          sample: (text) => unlessGone(answers.sample(text)),
        },
      });
      try {
        const options = { timeout: 20_000, ...(isSilent ? {} : { signal: user.left }) };
        return await calledToTheEnd(args, (given) => {
          const call = { name, arguments: given };
          return kind === 'v1 client'
            ? client.callTool(call, undefined as never, options)
            : client.callTool(call, options);
        });
      } catch (error) {
        user.left.throwIfAborted();
        throw judged(error);
      } finally {
        await client.close();
      }
    },
  };
}
