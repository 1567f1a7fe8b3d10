import { describe, expect, it } from 'vitest';
import { resumeSaga, SagaGone, type McpClient } from '../src/index.ts';

/** A client whose server refuses every token. */
const refusing = {
  getServerCapabilities: () => ({
    extensions: { 'io.github.mcp-saga/saga': { methods: ['tools/resumeSaga'] } },
  }),
  request: () =>
    Promise.reject(
      Object.assign(new Error('Invalid or expired sagaToken'), {
        code: -32602,
        data: { reason: 'invalid_saga_token' },
      }),
    ),
} as unknown as McpClient;

describe('a saga with a rejected token', () => {
  it('is gone, and the error carries no saga', async () => {
    const kept = {
      format: 'mcp-saga/client@1',
      name: 'deploy',
      sagaToken: 'over',
      turn: 1,
      steps: [],
      completedSteps: [],
    } as const;
    const error: unknown = await resumeSaga(refusing, kept).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SagaGone);
    expect(error).toMatchObject({ code: 'saga_gone', saga: undefined });
  });
});
