import { indented } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { nearestName } from '@mcp-saga/server/internal';
import { answeringKinds, type Rule } from '../script/script-rules.ts';
import { ruleSource } from '../script/script-source.ts';
import { lineOf } from '../report/trace.ts';
import type { World } from '../world/world.ts';

/**
 * Throws `script` if a fault never applied. Without faults, adds a warning for each unused answer
 * or stand-in.
 */
export function assertApplied(world: World): void {
  const { all } = world.rules;
  const unused = all.filter(
    (rule, at) => !wasApplied(world, rule) && !isOverruled(rule, all.slice(at + 1)),
  );
  const faults = unused.filter(isFault);
  if (faults.length > 0) throw neverApplied(world, faults);
  if (all.some(isFault)) return;
  for (const rule of unused) {
    world.warnings.push(
      `This line of the script was never needed: ${ruleSource(rule)} (${hintOn(world, rule)})`,
    );
  }
}

/** `true` for a fault or an expected failure, `false` for an answer or a stand-in. */
export function isFault({ kind }: Rule): boolean {
  return (
    kind !== 'outside' &&
    kind !== 'answer' &&
    kind !== 'sample' &&
    kind !== 'roots' &&
    kind !== 'step'
  );
}

/** `true` if a rule was used in a run. */
export function wasApplied({ used }: Pick<World, 'used'>, rule: Rule): boolean {
  return used.has(rule) || ('times' in rule && rule.times === 0);
}

function isOverruled(rule: Rule, later: readonly Rule[]): boolean {
  const subject = subjectOf(rule);
  return subject !== undefined && later.some((other) => subjectOf(other) === subject);
}

/** Subject of a rule. A later rule with the same subject replaces the rule. */
function subjectOf(rule: Rule): string | undefined {
  const { kind } = rule;
  if (!('id' in rule) || kind === 'crash') return undefined;
  if (kind === 'fail' || kind === 'timeout' || kind === 'lose') return `fault ${rule.id}`;
  if (kind === 'late' || kind === 'silent') return `time ${rule.id}`;
  return `${answeringKinds.has(kind) ? 'answer' : kind} ${rule.id}`;
}

function neverApplied(world: World, rules: readonly Rule[]): SagaTestError {
  const lines = rules.map((rule) => `    ${ruleSource(rule)}   (${hintOn(world, rule)})`);
  const which = rules.length === 1 ? 'This line of the script' : 'These lines of the script';
  return new SagaTestError(
    'script',
    `${which} never applied, so the run does not test the fault:\n\n${lines.join('\n')}\n\n` +
      `What happened:\n\n${indented(String(world.trace))}`,
  );
}

/** Describes the end of a run, with the code of its error. */
function endOf({ trace }: World): string {
  const end = trace.findLast(
    ({ type }) => type === 'completed' || type === 'gaveUp' || type === 'refused',
  );
  if (end === undefined) return 'the run did not end';
  const code = end.type === 'gaveUp' ? (Object(end.error) as { code?: unknown }).code : undefined;
  return `the run ${lineOf(end)}${typeof code === 'string' ? `, code '${code}'` : ''}`;
}

function hintOn(world: World, rule: Rule): string {
  if (rule.kind === 'loseResponse')
    return `the responses were those of turns ${world.responses.join(', ')}`;
  if (rule.kind === 'deny') return 'no step needed it';
  if (rule.kind === 'expectFailure') return endOf(world);
  const { id } = rule;
  const questions = new Map(
    world.trace.flatMap((entry) =>
      entry.type === 'asked' ? [[entry.id, entry.kind] as const] : [],
    ),
  );
  const kind = questions.get(id);
  if (kind !== undefined) return `'${id}' is a question: ${kind}`;
  const runs = world.runs.get(id);
  if (runs !== undefined)
    return `'${id}' is a step, and its code ran ${runs === 1 ? 'once' : `${runs} times`}`;
  const isOfQuestion =
    answeringKinds.has(rule.kind) || ['end', 'late', 'silent'].includes(rule.kind);
  const outside = [...world.outside.asked.values()].map((asked) => asked.id);
  const ids = [
    ...(rule.kind === 'outside' ? outside : isOfQuestion ? questions.keys() : world.runs.keys()),
  ];
  if (id.startsWith('~') && world.runs.has(id.slice(1))) return `'${id.slice(1)}' was not undone`;
  const near = nearestName(id, ids);
  if (near !== undefined) return `did you mean '${near}'?`;
  return `${isOfQuestion || rule.kind === 'outside' ? 'asked' : 'run'} were: ${ids.join(', ') || 'none'}`;
}
