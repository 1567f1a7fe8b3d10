/** Interval between reminders, in milliseconds. */
export const remindEvery = 2_000;
/** Time until the escalation to a director, in milliseconds. */
export const escalateAfterMs = 5_000;
/** Difference of two clocks of the fleet, in milliseconds. */
export const mostOutsideSkew = 200;
/** Name of the shared queue. */
export const queueName = 'outside';
