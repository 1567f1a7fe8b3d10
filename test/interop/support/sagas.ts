import { createSagaHost, elicit, saga, step, type SagaHost } from '@mcp-saga/server';
import { z } from 'zod';
import { complexTool } from '../../../examples/quickstart/saga.ts';
import { askingModels } from '../../support/asking-models.ts';

const Target = z.object({ target: z.string() });
const Sure = z.object({ sure: z.boolean() });

/** The quickstart with both questions for the user: two rounds for clients without a model. */
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
    yield* step('deploy', async ({ idempotencyKey }) => ({
      target,
      deployment: idempotencyKey.slice(0, 8),
    }));
    return `Deployment to ${target} initiated successfully based on confirmation.`;
  },
);

const Deployment: z.ZodType = z.object({
  target: z.string(),
  get parts() {
    return z.array(Deployment);
  },
});

/** A result with a recursive schema, by which clients check each result of the tool. */
export const deployment = { target: 'production', parts: [{ target: 'database', parts: [] }] };

/** Asks, and returns an object: an unfinished call has structured content of another form. */
const typedTool = saga(
  {
    name: 'typed_tool',
    version: '1',
    input: z.object({ initial_arg: z.string() }),
    output: Deployment,
  },
  function* () {
    yield* elicit('step-elicitation-A', {
      message: 'Please provide the deployment target:',
      schema: Target,
    });
    yield* step('deploy', () => null);
    return deployment;
  },
);

/** Returns the object at once. Its schema is recursive at the root, since it lists nothing else. */
const immediateTool = saga(
  {
    name: 'immediate_tool',
    version: '1',
    input: z.object({ initial_arg: z.string() }),
    output: Deployment,
    suspends: false,
  },
  function* () {
    yield* step('deploy', () => null);
    return deployment;
  },
);

/** Differences between hosts. */
export interface HostFacts {
  readonly keys: string;
  /** `true` if the host's model answers for clients without a model. It always answers yes. */
  readonly hasModel: boolean;
}

interface StepFacts {
  readonly kind: string;
  readonly path: string;
  readonly type: string;
}

/**
 * Creates a host with the quickstart's saga, a variant that asks only the user, and tools with an
 * output. A model may answer if the client cannot be asked.
 *
 * @param onEffect - gets the path of each server step that succeeded
 */
export function createHost(
  { keys, hasModel }: HostFacts,
  onEffect: (path: string) => void,
): SagaHost {
  const sampling = () => ({
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'Yes, all systems are green.' },
    model: 'host-side-llm',
  });
  const options = {
    sagas: [...askingModels([complexTool, askedTool, typedTool]), immediateTool],
    keys,
    name: 'interop',
    answerers: { model: 'accept' as const },
    ...(hasModel ? { answerers: { sampling } } : {}),
    hooks: {
      onStep: ({ kind, path, type }: StepFacts) => {
        if (kind === 'step' && type === 'succeeded') onEffect(path);
      },
    },
  };
  return createSagaHost(options);
}
