import * as fc from 'fast-check';
import { questionLeaf, stepLeaf, waits, type Node } from './random-saga.ts';

/**
 * Trees of groups whose branches are in the middle of something when one of them ends the others,
 * and have something to say to it. A question comes after each group, so that all of it is
 * replayed.
 */
export function endings(): fc.Arbitrary<Node> {
  const busy = fc.oneof(waits, stepLeaf(true), questionLeaf(true));
  const leaving = (body: fc.Arbitrary<Node>): fc.Arbitrary<Node> =>
    fc.record({
      kind: fc.constant('try' as const),
      body,
      catch: fc.constant(undefined),
      finally: fc.option(fc.oneof(busy, fc.constant<Node>({ kind: 'share' })), { nil: undefined }),
    });
  const groupOf = (node: fc.Arbitrary<Node>): fc.Arbitrary<Node> =>
    fc.record({
      kind: fc.constantFrom('all' as const, 'all' as const, 'race' as const, 'allSettled' as const),
      shape: fc.constant('record' as const),
      branches: fc.array(fc.record({ single: fc.constant(false), node }), {
        minLength: 2,
        maxLength: 4,
      }),
    });
  const failing = fc
    .tuple(busy, fc.constant<Node>({ kind: 'throw' }))
    .map((nodes): Node => ({ kind: 'sequence', nodes }));
  const inner = fc.oneof(
    { weight: 4, arbitrary: leaving(busy) },
    { weight: 2, arbitrary: leaving(failing) },
  );
  const outer = fc.oneof(
    { weight: 4, arbitrary: inner },
    { weight: 1, arbitrary: leaving(groupOf(inner)) },
  );
  const guarded = fc.record({
    kind: fc.constant('try' as const),
    body: groupOf(outer),
    catch: fc.constant<Node>({ kind: 'share' }),
    finally: fc.constant(undefined),
  });
  const question: Node = { kind: 'outcome', id: 'after', answeredBy: undefined, fallback: 'none' };
  return fc
    .array(guarded, { minLength: 1, maxLength: 2 })
    .map((nodes): Node => ({ kind: 'sequence', nodes: nodes.flatMap((node) => [node, question]) }));
}
