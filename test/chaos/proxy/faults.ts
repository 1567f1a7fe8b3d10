import { between, type Draw } from '../seeded.ts';

/** Fault of one request. */
export type Fault =
  | { readonly kind: 'none' }
  /** Cuts the socket before the request reaches a server. */
  | { readonly kind: 'cut before' }
  /** The socket is cut while a server works. The server detects the cut, or continues. */
  | { readonly kind: 'cut during'; readonly ms: number; readonly isHeard: boolean }
  /** Cuts the socket in the middle of the response. */
  | { readonly kind: 'cut after' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Holds the request until the given number of later requests has passed, or for a second. */
  | { readonly kind: 'reorder'; readonly past: number }
  /** Sends the request to two processes at once. The first response counts. */
  | { readonly kind: 'duplicate' }
  /** Sends the request to another process again, after its response. */
  | { readonly kind: 'duplicate late'; readonly ms: number }
  /** The same, for a request without answers: time may have moved its saga on. */
  | { readonly kind: 'copied poll'; readonly ms: number };

const none: Fault = { kind: 'none' };

/**
 * Draws the fault of a request. Requests of a session are never duplicated, because only one
 * process serves the session.
 */
export function drawFault(draw: Draw, isOfSession: boolean, isPoll: boolean): Fault {
  if (isPoll && draw() < 0.3) return { kind: 'copied poll', ms: between(draw, 100, 3_000) };
  const luck = draw();
  if (luck < 0.03) return { kind: 'cut before' };
  if (luck < 0.07) return { kind: 'cut during', ms: between(draw, 0, 60), isHeard: draw() < 0.5 };
  if (luck < 0.1) return { kind: 'cut after' };
  if (luck < 0.16) return { kind: 'delay', ms: between(draw, 50, 1_200) };
  if (luck < 0.2) return { kind: 'reorder', past: between(draw, 1, 5) };
  if (isOfSession) return none;
  if (luck < 0.26) return { kind: 'duplicate' };
  if (luck < 0.3) return { kind: 'duplicate late', ms: between(draw, 100, 3_000) };
  return none;
}
