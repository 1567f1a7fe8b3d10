import { it } from 'vitest';

console.error('unexpected at import');

it('passes in a file that logs when it is imported', () => undefined);
