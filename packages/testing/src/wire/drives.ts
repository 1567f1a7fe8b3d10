import type { Drive } from './channel/driving.ts';
import { multiRoundTrip } from './drives/multi-round-trip.ts';
import { push } from './drives/push.ts';
import { resumableRequests } from './drives/resumable-requests.ts';
import { resumeToken, toTheEnd } from './drives/resume-token.ts';
import { sagaMethods } from './drives/saga-methods.ts';
import { tasks } from './drives/tasks.ts';
import type { WireDialect } from './channel/ways.ts';

/** How a client of each dialect sees a call through. */
export const drives: Readonly<Record<WireDialect, Drive>> = {
  'saga methods': sagaMethods,
  'multi round-trip': toTheEnd(multiRoundTrip),
  push: toTheEnd(push),
  'resume token': toTheEnd(resumeToken),
  'resumable requests': toTheEnd(resumableRequests),
  tasks: toTheEnd(tasks),
};
