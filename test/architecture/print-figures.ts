/** Prints the figures of the architecture beside what the project wants to reach. */
import { figures } from './figures.ts';

const rows = await figures();
console.table(Object.fromEntries(rows.map(({ name, ...figure }) => [name, figure])));
