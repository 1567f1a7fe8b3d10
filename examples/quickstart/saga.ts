import { elicit, sample, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

const Target = z.object({ target: z.string() });

/** Asks the user where to deploy, asks the client's model whether that is safe, and deploys. */
export const complexTool = saga(
  {
    name: 'complex_tool',
    version: '1',
    description: 'Deploys after a person and a model agree',
    input: z.object({ initial_arg: z.string() }),
    // If the client does not support sampling, the model that calls the tool answers.
    answeredBy: ['client', 'model', 'fallback'],
  },
  function* () {
    const { target } = yield* elicit('step-elicitation-A', {
      message: 'Please provide the deployment target:',
      schema: Target,
    });
    const verdict = yield* sample('step-sampling-B', {
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Is deploying to '${target}' safe right now?` },
        },
      ],
      maxTokens: 100,
    });
    if (verdict.content.type !== 'text' || !/\byes\b/i.test(verdict.content.text)) {
      return `Not deployed to ${target}: the model did not say yes.`;
    }
    yield* step('deploy', async ({ idempotencyKey }) => ({
      target,
      deployment: idempotencyKey.slice(0, 8),
    }));
    return `Deployment to ${target} initiated successfully based on confirmation.`;
  },
);
