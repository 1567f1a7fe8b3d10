import { expect, it } from 'vitest';
import { figures } from './figures.ts';

it.each(figures())('$name: $value, at most $limit', ({ value, limit }) => {
  expect(value).toBeLessThanOrEqual(limit);
});
