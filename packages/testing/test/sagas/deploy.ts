import { elicit, saga, sample, step } from '@mcp-saga/server';
import { z } from 'zod';

const Target = z.object({ target: z.enum(['staging', 'production']) });

/** The quickstart: asks the user, asks the model, then releases. */
export const deploy = saga(
  { name: 'deploy', version: '1', input: z.object({ service: z.string() }) },
  function* ({ service }) {
    const { target } = yield* elicit('target', {
      message: `Where shall ${service} go?`,
      schema: Target,
    });
    const verdict = yield* sample('safety', {
      messages: [
        { role: 'user', content: { type: 'text', text: `Is deploying to ${target} safe?` } },
      ],
      maxTokens: 100,
    });
    if (verdict.content.type !== 'text' || !verdict.content.text.startsWith('Yes'))
      return 'Not now.';
    const release = yield* step('release', async ({ idempotencyKey }) => ({
      id: `r-${idempotencyKey}`,
    }));
    return `Released ${release.id} to ${target}.`;
  },
);
