import { toSource } from '../script/script-source.ts';
import type { TestProvider } from '../script/test-options.ts';
import { SagaTestError } from '../values/errors.ts';
import type { World } from './world.ts';
import { breathe } from '../values/virtual-clock.ts';

/** Watches the providers of a run. Call the result after the run: it waits for late effects. */
export function watchProviders(world: World): () => Promise<void> {
  const { providers = [] } = world.options;
  const observe = (key: string, action: 'do' | 'undo'): void => {
    world.objection ??= objectionTo(world, key, action);
  };
  for (const provider of providers) provider.observe(observe);
  return async () => {
    if (providers.length === 0) return;
    await breathe();
    await breathe();
    for (const provider of providers) provider.observe(undefined);
  };
}

function objectionTo(
  { ledger, running, reads }: World,
  key: string,
  action: 'do' | 'undo',
): SagaTestError | undefined {
  const code = ledger.codeOf(key);
  if (code === undefined) {
    return new SagaTestError(
      'violated',
      `A provider was called with ${action}(${toSource(key)}), which is not the key of a step in this run. A repeated request would have ` +
        'another key, and a second effect. Pass the idempotencyKey of the step, or its stepKey to undo it.',
    );
  }
  if (reads.has(code.id)) {
    return new SagaTestError(
      'violated',
      `'${code.id}' has reads: true, but calls ${action}(${toSource(key)}) of a provider, which is an effect: explorers would accept that it ` +
        'repeats and stays. Leave out reads, and give the step an undo.',
    );
  }
  // Any step may undo an effect. Only its own step does the effect.
  if (action === 'do' ? code.running > 0 : running > 0) return undefined;
  return new SagaTestError(
    'violated',
    `A provider was called with ${action}(${toSource(key)}) after the code of '${code.id}' had ended: the saga continues before the ` +
      'effect, and does not see a failure. Return or await the promise in the step.',
  );
}

/** IDs of the steps with effects left in the providers, by the keys of the last started saga. */
export function standingIn({ options: { providers = [] }, ledger }: World): readonly string[] {
  const keys = providers.flatMap((provider: TestProvider) => provider.standingKeys);
  return keys.flatMap((key) => {
    const { id = '' } = ledger.codeOf(key) ?? {};
    return ledger.isCurrent(key) && !id.startsWith('~') ? [id] : [];
  });
}
