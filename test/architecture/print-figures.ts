/** Prints the figures of the architecture. */
import { figures } from './figures.ts';

console.table(Object.fromEntries(figures().map(({ name, ...figure }) => [name, figure])));
