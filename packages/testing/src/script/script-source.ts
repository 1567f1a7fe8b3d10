import { answeringKinds, type Rule } from './script-rules.ts';
import { showAll } from '../values/show.ts';
import type { TestSagaOptions } from './test-options.ts';

/** Formats a value as source code. A short function is printed as it is. */
export function toSource(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'function') {
    const text = String(value);
    return text.length <= 80 && !/[\n\u2028\u2029]/.test(text)
      ? text
      : `/* ${value.name || 'your function'} */`;
  }
  if (value instanceof Error)
    return `new ${/^[A-Z]\w*$/.test(value.name) && value.name in globalThis ? value.name : 'Error'}(${quoted(value.message)})`;
  if (value instanceof Date) return `new Date(${quoted(value.toISOString())})`;
  if (Array.isArray(value)) return `[${value.map((item) => toSource(item)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return showAll(value);
  const fields = Object.entries(value).map(
    ([name, field]) =>
      `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)}: ${toSource(field)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

export function ruleSource(rule: Rule): string {
  switch (rule.kind) {
    case 'answer':
      return `.on.elicit(${toSource(rule.id)}, ${toSource(rule.answer)})`;
    case 'sample':
      return `.on.sample(${toSource(rule.id)}, ${toSource(rule.answer)})`;
    case 'roots':
      return `.on.roots(${toSource(rule.id)}, ${toSource(rule.roots)})`;
    case 'clientError':
      return `.fail.client(${toSource(rule.id)}, ${toSource(rule.message)})`;
    case 'refuse':
      return `.refuse.elicit(${toSource(rule.id)}${rule.action === 'decline' ? '' : `, ${toSource(rule.action)}`})`;
    case 'step':
      return `.on.step(${toSource(rule.id)}, ${toSource(rule.result)})`;
    case 'fail':
      return `.fail.step(${toSource(rule.id)}, ${toSource(rule.error)}${times(rule.times, rule.from)})`;
    case 'timeout':
      return `.timeout.step(${toSource(rule.id)}${times(rule.times)})`;
    case 'lose':
      return `.lose.step(${toSource(rule.id)}${times(rule.times)})`;
    case 'crash':
      return `.crash.${rule.when}(${toSource(rule.id)}${rule.run === 1 ? '' : `, { run: ${rule.run} }`})`;
    case 'loseResponse':
      return `.lose.response(${rule.turn})`;
    case 'deny':
      return `.deny.client(${toSource(rule.need)})`;
    case 'late':
    case 'silent':
      return `.${rule.kind}.elicit(${toSource(rule.id)}, ${rule.ms})`;
    case 'outside':
      return outsideSource(rule);
    case 'expectFailure':
      return `.expectFailure(${toSource(rule.reason)})`;
    case 'end':
      return `.cancel.at(${toSource(rule.id)}${rule.reason === undefined ? '' : `, ${toSource(rule.reason)}`})`;
  }
}

function outsideSource({ id, what, given }: Extract<Rule, { readonly kind: 'outside' }>): string {
  if (given === true || given === false) return `.on.${what}(${toSource(id)}, ${given})`;
  const [only, ...others] = given;
  if (only === undefined) return `.silent.${what}(${toSource(id)})`;
  if (what === 'approval')
    return `.on.${what}(${toSource(id)}, ${toSource(others.length === 0 ? only : given)})`;
  const { content, after } = only;
  const time = after === undefined ? '' : `, { after: ${toSource(after)} }`;
  return `.on.${what}(${toSource(id)}, ${toSource(content)}${time})`;
}

/** Formats a script that runs, ready to paste. */
export function scriptSource(
  saga: string,
  options: TestSagaOptions,
  rules: readonly Rule[],
): string {
  return `await ${scriptExpression(saga, options, rules)}\n  .run();`;
}

/** Formats a script without its run. */
export function scriptExpression(
  saga: string,
  given: TestSagaOptions,
  rules: readonly Rule[],
): string {
  const { input, ...others } = given;
  const names = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  // Not printable: fakes, other sagas, functions.
  const hint = names.length === 0 ? '' : ` /* with your ${names.join(', ')} */`;
  const options = (input === undefined ? '' : `, { input: ${toSource(input)} }`) + hint;
  return [
    // The name of the saga is no variable of the test.
    `testSaga(yourSaga /* ${toSource(saga)} */${options})`,
    ...rules.filter(isHeard).map((rule) => `  ${ruleSource(rule)}`),
  ].join('\n');
}

/** `true` if no later line overrules a line. */
function isHeard(rule: Rule, at: number, rules: readonly Rule[]): boolean {
  if (rule.kind !== 'step' && !answeringKinds.has(rule.kind)) return true;
  const same = (other: Rule): boolean =>
    rule.kind === 'step' ? other.kind === 'step' : answeringKinds.has(other.kind);
  return !rules
    .slice(at + 1)
    .some((other) => same(other) && 'id' in other && 'id' in rule && other.id === rule.id);
}

function times(count: number, from?: number): string {
  const options = [
    ...(Number.isFinite(count) ? [`times: ${count}`] : []),
    ...(from === undefined ? [] : [`from: ${from}`]),
  ];
  return options.length === 0 ? '' : `, { ${options.join(', ')} }`;
}

function quoted(text: string): string {
  // JSON keeps two line breaks of JavaScript.
  const json = JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  if (text.includes("'") && !text.includes('"')) return json;
  const inner = json.slice(1, -1).replaceAll('\\"', '"');
  return `'${inner.replaceAll("'", String.raw`\'`)}'`;
}
