/** Code that a rule accepts or refuses. */
export interface Case {
  readonly code: string;
  /** In TypeScript. */
  readonly isTyped?: true;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/**
 * Code with mistakes: the IDs of their messages, and for each the code with `yield*` where it is
 * suggested.
 */
export interface Mistake extends Case {
  readonly mistakes: readonly (string | readonly [messageId: string, suggested: string])[];
}

/** The cases of one rule. */
export interface Cases {
  readonly valid: readonly Case[];
  readonly invalid: readonly Mistake[];
}

const words = [
  'abort, all, allSettled, approval, call, checkpoint, compensator, continueAs, each, elicit, elicitUrl, info',
  'listRoots, log, now, patched, pivot, poll, progress, promptSaga, race, random, resourceSaga, saga, sample',
  'scope, sleep, step, uuid, ignore',
].join(', ');

/** Code that imports all that sagas are written with. */
export function code(text: string): string {
  return `import { ${words} } from '@mcp-saga/server';\n${text}`;
}

/** A saga with this body. */
export function saga(body: string): string {
  return code(`export default saga({ name: 's', version: '1' }, function* (input) {\n${body}\n});`);
}

/** A body that the rule accepts. */
export function valid(body: string): Case {
  return { code: saga(body) };
}

/** A body with one mistake, and the suggested code. */
export function invalid(body: string, messageId: string, suggested?: string): Mistake {
  return {
    code: saga(body),
    mistakes: [suggested === undefined ? messageId : [messageId, saga(suggested)]],
  };
}

/** What a case is about, in one line. */
export function nameOf({ code: text }: Case): string {
  return text.replace(code(''), '').replaceAll(/\s+/g, ' ');
}
