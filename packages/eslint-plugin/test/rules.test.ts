import * as parser from '@typescript-eslint/parser';
import { RuleTester } from 'eslint';
import { describe, it } from 'vitest';
import plugin, { type SagaRuleName } from '../src/index.ts';
import { allCases } from './cases/index.ts';
import { nameOf, type Case, type Mistake } from './support/cases.ts';

RuleTester.describe = describe;
RuleTester.it = it;

const toCase = (given: Case): { name: string; code: string } =>
  ({
    name: nameOf(given),
    code: given.code,
    settings: given.settings ?? {},
    ...(given.isTyped ? { languageOptions: { parser } } : {}),
  }) as { name: string; code: string };

const toError = (mistake: Mistake['mistakes'][number]): { messageId: string } =>
  typeof mistake === 'string'
    ? { messageId: mistake }
    : ({
        messageId: mistake[0],
        suggestions: [{ messageId: 'suggestion', output: mistake[1] }],
      } as never);

for (const [name, { valid, invalid }] of Object.entries(allCases)) {
  new RuleTester().run(name, plugin.rules[name as SagaRuleName] as never, {
    valid: valid.map(toCase),
    invalid: invalid.map((given) => ({ ...toCase(given), errors: given.mistakes.map(toError) })),
  });
}
