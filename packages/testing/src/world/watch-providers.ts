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
  { ledger, running }: World,
  key: string,
  action: 'do' | 'undo',
): SagaTestError | undefined {
  const code = ledger.codeOf(key);
  if (code === undefined) {
    return new SagaTestError(
      'violated',
      `A provider was called with ${action}(${toSource(key)}), which is the key of no step of this run: a repeated request has another ` +
        'one, and is done twice. Send the idempotencyKey of the step; to undo a step, its stepKey.',
    );
  }
  // An effect may be undone by any step; it is done by its own.
  if (action === 'do' ? code.running > 0 : running > 0) return undefined;
  return new SagaTestError(
    'violated',
    `A provider was called with ${action}(${toSource(key)}) after the code of '${code.id}' had ended: the saga continues before that ` +
      'happens, and does not see it fail. Return or await the promise in the step.',
  );
}

/** IDs of the steps whose effects are still in the providers, by the keys of the last saga that started. */
export function standingIn({ options: { providers = [] }, ledger }: World): readonly string[] {
  const keys = providers.flatMap((provider: TestProvider) => provider.standingKeys);
  return keys.flatMap((key) => {
    const { id = '' } = ledger.codeOf(key) ?? {};
    return ledger.isCurrent(key) && !id.startsWith('~') ? [id] : [];
  });
}
