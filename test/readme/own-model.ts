import type { SampleParams, SampleResult } from '@mcp-saga/server';

/** A model of the host's own, as small as can be. */
export async function askOwnModel(
  { messages }: SampleParams,
  signal: AbortSignal,
): Promise<SampleResult> {
  signal.throwIfAborted();
  const text = JSON.stringify(messages).includes('fire') ? 'urgent' : 'normal';
  return await Promise.resolve({
    role: 'assistant',
    content: { type: 'text', text },
    model: 'own',
  });
}
