import { it } from 'vitest';

it.concurrent('passes in a file that fails, since its log could be of another test', () => {
  console.error('unexpected at the same time');
});
