// The code of the README: each region below stands in it verbatim, and is run by readme.test.ts.
// #region saga
import { elicit, saga, sample, step } from '@mcp-saga/server';
import { z } from 'zod';
import { api } from './api.ts';

const Target = z.object({ target: z.enum(['staging', 'production']) });

export const deploy = saga(
  { name: 'deploy', version: '1', input: z.object({ service: z.string() }) },
  function* ({ service }) {
    const { target } = yield* elicit('target', {
      message: `Where shall ${service} go?`,
      schema: Target,
    });
    const verdict = yield* sample('safety', {
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Is deploying to ${target} safe right now? Yes or no?` },
        },
      ],
      maxTokens: 100,
    });
    if (verdict.content.type !== 'text' || !verdict.content.text.startsWith('Yes'))
      return 'Not now, says the model.';
    const release = yield* step('release', ({ idempotencyKey }) =>
      api.release(service, target, idempotencyKey),
    );
    return `Released ${release.id} to ${target}.`;
  },
);
// #endregion saga
