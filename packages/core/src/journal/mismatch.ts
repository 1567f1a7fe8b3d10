import { ReplayMismatch, type StepFacts } from '../values/errors.ts';
import type { Journal } from './journal.ts';

interface AskedCommand {
  readonly spec: { readonly kind: string };
  readonly path: string;
  readonly fingerprint: number;
}

/** Mismatch between the next entry of the journal and the commands of the code. */
export function mismatchOf(
  journal: Journal,
  asked: Iterable<AskedCommand | StepFacts>,
  recorded: StepFacts = journal.facts(),
): ReplayMismatch {
  return new ReplayMismatch(journal.count, recorded, Array.from(asked, factsOf));
}

function factsOf(asked: AskedCommand | StepFacts): StepFacts {
  const { path, fingerprint } = asked;
  return { kind: 'spec' in asked ? asked.spec.kind : asked.kind, path, fingerprint };
}
