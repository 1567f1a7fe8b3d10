import type { Fields, Listener } from '../channel.ts';
import type { Drive, Driving } from './drive.ts';

/** `tools/call` in a session, in which the server asks. */
export const push: Drive = (driving, call) =>
  driving.send('tools/call', { ...call }, asked(driving));

/** Returns a listener that answers the server's questions in a session. */
export function asked({ answerer }: Driving): Listener {
  return { onRequest: (method: string, params: Fields) => answerer.answer({ method, params }) };
}
