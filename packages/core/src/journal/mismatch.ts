import { ReplayMismatch, type StepFacts } from '../values/errors.ts';
import type { Journal } from './journal.ts';

/** A command that the code asks for. */
interface AskedCommand {
  readonly spec: { readonly kind: string };
  readonly path: string;
  readonly fingerprint: number;
}

/** What the journal has next, beside what the code asks for. (R3) */
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
