/**
 * How long tests wait, in one place. A wait ends by its condition; these limits end one that hangs.
 * They are generous, because a process that starts in one second on a quiet machine takes 40 on one
 * under load.
 */

/** The longest time that a test waits for a condition, or for a process to end, in milliseconds. */
export const longestWait = 600_000;

/** The longest time of a test or a hook, in milliseconds. Longer than one wait, which says more. */
export const longestTest = 2 * longestWait;

/**
 * Options of a store whose database is as slow as the machine. The stores' own limits are some
 * seconds, which suit production.
 */
export const patient: { readonly timeout: number } = { timeout: longestWait };
