import { describe, it } from 'vitest';
import { expectLogs } from '../logs.ts';

expectLogs('missing-in-the-file');

describe('a block that expects a log', () => {
  expectLogs(/missing in the block/);

  it('passes in a file without the expected logs', () => undefined);
});
