import { answersOf, canAsk, connect, type Kind } from './connect.ts';
import { calledToTheEnd, judged, type Way } from './way.ts';

/**
 * Push: the server asks during the call, in a session that lives in one process. If that process
 * dies, the call fails or hangs. The client repeats the call in a new session as a new saga, and
 * the queue cancels the first saga.
 */
export function push(kind: Kind, server: 1 | 2): Way {
  return {
    dialect: 'push',
    client: `${kind}, v${server} server`,
    see: async (calling) => {
      const { tool: name, arguments: args, user } = calling;
      const answers = answersOf(calling);
      // A disconnected user sends neither an answer nor an error.
      const unlessGone = (answer: Promise<object>): Promise<object> =>
        answer.catch((error: unknown) => {
          if (user.left.aborted) return new Promise<never>(() => undefined);
          throw error;
        });
      const client = await connect(kind, calling, {
        path: `/sessions/${server}`,
        capabilities: canAsk,
        sends: 'once',
        answers: {
          form: (message) => unlessGone(answers.form(message)),
          sample: (text) => unlessGone(answers.sample(text)),
        },
      });
      try {
        const options = { signal: user.left, timeout: 20_000 };
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
