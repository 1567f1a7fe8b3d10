/** The kit under Node's own test runner. */
import { test } from 'node:test';
import { suite } from './suite.ts';

for (const [title, run] of Object.entries(suite)) void test(title, run);
