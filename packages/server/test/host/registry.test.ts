import { expect, it } from 'vitest';
import { Registry } from '../../src/settings/registry.ts';

it('tells a subject once, also when it is the last that fits', () => {
  const registry = new Registry([]);
  const subjects = Array.from({ length: 1000 }, (_, index) => `mistake at step 'charge-${index}'`);
  expect(subjects.every((subject) => registry.isNew(subject))).toBe(true);
  expect(subjects.some((subject) => registry.isNew(subject))).toBe(false);
});

it('forgets subjects when there are too many, so that its memory is bounded', () => {
  const registry = new Registry([]);
  for (let index = 0; index < 1000; index += 1) registry.isNew(`mistake at step 'charge-${index}'`);
  expect(registry.isNew('one more')).toBe(true);
  expect(registry.isNew('one more')).toBe(false);
  expect(registry.isNew("mistake at step 'charge-0'")).toBe(true);
});
