/** Polling interval of pg-boss, in milliseconds: the shortest that pg-boss allows. */
export const pollingMs = 500;
