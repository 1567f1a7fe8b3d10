import { answersOf, canAsk, connect } from './connect.ts';
import { calledToTheEnd, judged, type Way } from './way.ts';

/**
 * Multi round-trip requests with the SDK's client, which drives the rounds itself and loses their
 * state if a round fails.
 *
 * @param sends - `again`: below it each request is sent until it is answered. `once`: what fails is
 * the whole call; to call again begins another saga, and what the first one did is left to the
 * queue
 */
export function multiRoundTrip(sends: 'again' | 'once'): Way {
  return {
    dialect: 'multi round-trip',
    client: `v2 client, requests sent ${sends}`,
    see: async (calling) => {
      const { tool: name, arguments: args, user } = calling;
      const client = await connect('v2 client, 2026-07-28', calling, {
        capabilities: canAsk,
        sends,
        answers: answersOf(calling),
      });
      try {
        const options = { signal: user.left, timeout: sends === 'again' ? 60_000 : 15_000 };
        return await calledToTheEnd(args, (given) =>
          client.callTool({ name, arguments: given }, options),
        );
      } catch (error) {
        user.left.throwIfAborted();
        throw judged(error);
      } finally {
        await client.close();
      }
    },
  };
}
