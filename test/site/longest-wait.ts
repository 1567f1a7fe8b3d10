/**
 * Milliseconds that a page may take for what it must do: longer than any machine needs. Only a fault
 * takes as long.
 */
export const longestWaitMs = 900_000;
