import { WireError, type Fields, type Listener } from '../channel.ts';
import { endless, maxRounds, type Drive } from './drive.ts';
import { inRounds } from './multi-round-trip.ts';
import { asked } from './push.ts';

const policy = 'notifications/requests/resumePolicy';

/** `tools/call`, and after a cut `requests/resume` with the newest token. */
export const resumableRequests: Drive = (driving, call) =>
  inRounds(driving, call, async (params) => {
    let token: unknown;
    let id: Listener['id'];
    const listener = {
      ...asked(driving),
      onNotification: (method: string, told: Fields): void => {
        if (method !== policy) return;
        token = driving.holds(told['resumeToken']);
        id = told['requestId'] as Listener['id'];
      },
    };
    for (let round = 0; round < maxRounds; round += 1) {
      try {
        return await (token === undefined
          ? driving.sendOnce('tools/call', params, listener)
          : driving.sendOnce('requests/resume', { resumeToken: token }, { ...listener, id }));
      } catch (error) {
        const needed = neededIn(error);
        if (needed !== undefined) return needed;
        driving.onCut(error);
      }
    }
    throw endless(call);
  });

/**
 * Input that a resumed request needs. It arrives as an error, and the call is sent again with the
 * input.
 */
function neededIn(error: unknown): Fields | undefined {
  if (!(error instanceof WireError)) return undefined;
  const { reason, ...needed } = Object(error.data) as { readonly reason?: string };
  return reason === 'input_required' ? { resultType: reason, ...needed } : undefined;
}
