import { createSagaHost, elicit, saga, step, type SagaHost } from '@mcp-saga/server';
import { z } from 'zod';
import { complexTool } from '../../../examples/quickstart/saga.ts';

const Target = z.object({ target: z.string() });
const Sure = z.object({ sure: z.boolean() });

/** The quickstart with both questions put to the user: two rounds for clients that have nobody else to ask. */
const askedTool = saga(
  { name: 'asked_tool', version: '1', input: z.object({ initial_arg: z.string() }) },
  function* () {
    const { target } = yield* elicit('step-elicitation-A', {
      message: 'Please provide the deployment target:',
      schema: Target,
    });
    const { sure } = yield* elicit('step-elicitation-B', {
      message: `Is deploying to '${target}' safe right now?`,
      schema: Sure,
    });
    if (!sure) return `Not deployed to ${target}: the user did not say yes.`;
    yield* step('deploy', async ({ idempotencyKey }) => ({ target, deployment: idempotencyKey.slice(0, 8) }));
    return `Deployment to ${target} initiated successfully based on confirmation.`;
  },
);

/** What differs between hosts. */
export interface HostFacts {
  readonly keys: string;
  /** Whether the host has a model of its own, for clients that offer none. It says yes. */
  readonly hasModel: boolean;
}

interface StepFacts {
  readonly kind: string;
  readonly path: string;
  readonly type: string;
}

/**
 * A host of the quickstart's saga and of its twin that asks the user only. A model may answer where the client cannot
 * be asked.
 *
 * @param onEffect - gets the path of each server step that succeeded
 */
export function createHost({ keys, hasModel }: HostFacts, onEffect: (path: string) => void): SagaHost {
  const sampling = () => ({
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'Yes, all systems are green.' },
    model: 'host-side-llm',
  });
  const options = {
    sagas: [complexTool, askedTool],
    keys,
    audience: 'interop',
    answers: { model: 'accept' as const },
    ...(hasModel ? { answers: { sampling } } : {}),
    hooks: {
      onStep: ({ kind, path, type }: StepFacts) => {
        if (kind === 'step' && type === 'succeeded') onEffect(path);
      },
    },
  };
  return createSagaHost(options);
}
