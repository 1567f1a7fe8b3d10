/** Example that the page opens with. Vite inserts it. */
export const first = FIRST_EXAMPLE;
