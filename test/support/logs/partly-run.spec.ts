import { it } from 'vitest';
import { expectLogs } from '../logs.ts';

expectLogs('of-a-skipped-test');

it('passes beside a skipped test', () => undefined);

it.skip('is skipped', () => console.error('errors.md#of-a-skipped-test'));
