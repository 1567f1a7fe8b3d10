import type { CommandSpec } from '../effects/effect-of.ts';
import type { Runtime } from '../model/runtime.ts';

const warned = /* @__PURE__ */ new WeakMap<object, Set<string>>();

/** Reports commands that were created and never yielded, each once for a saga of this process. */
export function warnOfFloats(
  saga: { readonly name: string },
  floated: readonly CommandSpec[],
  { warn }: Pick<Runtime, 'warn'>,
): void {
  if (warn === undefined) return;
  for (const spec of floated) {
    const id = 'id' in spec ? `${spec.kind}('${spec.id}')` : `${spec.kind}(…)`;
    const known = warned.get(saga) ?? new Set();
    if (known.has(id)) continue;
    warned.set(saga, known.add(id));
    warn(
      `Saga '${saga.name}' created ${id} and never yielded it, so it did not happen. Write: yield* ${id}.`,
      'mistake',
    );
  }
}
