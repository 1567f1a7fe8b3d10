/** Lint rules for sagas, for ESLint and Oxlint. */
import { awaitInStep } from './rules/await-in-step.ts';
import { deterministicBody } from './rules/deterministic-body.ts';
import { readAnswers } from './rules/read-answers.ts';
import { requireYieldStar } from './rules/require-yield-star.ts';

/** A rule, as ESLint and Oxlint take it. */
export interface SagaRule {
  readonly meta?: object;
  create(context: never): object;
}

/** The names of the rules. */
export type SagaRuleName =
  | 'await-in-step'
  | 'deterministic-body'
  | 'read-answers'
  | 'require-yield-star';

/** The plugin, for `plugins` of a flat config. */
export interface SagaPlugin {
  readonly meta: { readonly name: string; readonly version: string };
  readonly rules: { readonly [name in SagaRuleName]: SagaRule };
  readonly configs: {
    /** All rules as errors. */
    readonly recommended: {
      readonly name: string;
      readonly plugins: { readonly '@mcp-saga': SagaPlugin };
      readonly rules: { readonly [name in `@mcp-saga/${SagaRuleName}`]: 'error' };
    };
  };
}

/**
 * The plugin for ESLint and Oxlint.
 *
 * @example
 * ```ts
 * // eslint.config.js
 * import saga from '@mcp-saga/eslint-plugin';
 *
 * export default [saga.configs.recommended];
 * ```
 */
const plugin: SagaPlugin = {
  meta: { name: '@mcp-saga/eslint-plugin', version: '0.1.0' },
  rules: {
    'await-in-step': awaitInStep,
    'deterministic-body': deterministicBody,
    'read-answers': readAnswers,
    'require-yield-star': requireYieldStar,
  },
  configs: {
    recommended: {
      name: '@mcp-saga/recommended',
      plugins: {
        get '@mcp-saga'() {
          return plugin;
        },
      },
      rules: {
        '@mcp-saga/await-in-step': 'error',
        '@mcp-saga/deterministic-body': 'error',
        '@mcp-saga/read-answers': 'error',
        '@mcp-saga/require-yield-star': 'error',
      },
    },
  },
};

export default plugin;
