import { ReplayMismatch, type StepFacts } from '../values/errors.ts';
import type { Task } from '../replay/fiber.ts';
import type { Journal } from './journal.ts';

/** What the journal has next, beside what the code asks for. (R3) */
export function mismatchOf(
  journal: Journal,
  asked: Iterable<Task | StepFacts>,
  recorded: StepFacts = journal.facts(),
): ReplayMismatch {
  return new ReplayMismatch(journal.count, recorded, Array.from(asked, factsOf));
}

function factsOf(asked: Task | StepFacts): StepFacts {
  const { path, fingerprint } = asked;
  return { kind: 'spec' in asked ? asked.spec.kind : asked.kind, path, fingerprint };
}
