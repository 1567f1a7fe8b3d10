import type { CommandSpec } from '../effects/effect-of.ts';
import type { Runtime } from '../model/runtime.ts';

/** Tells the developer of commands that were created and never yielded. */
export function warnOfFloats(
  name: string,
  floated: readonly CommandSpec[],
  { warn }: Pick<Runtime, 'warn'>,
): void {
  for (const spec of floated) {
    const id = 'id' in spec ? `${spec.kind}('${spec.id}')` : `${spec.kind}(…)`;
    warn?.(`Saga '${name}' created ${id} and never yielded it, so it did not happen. Write: yield* ${id}.`);
  }
}
