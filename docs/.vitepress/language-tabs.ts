import type { TabsOf } from './code-groups.ts';

/**
 * Shows TypeScript in a second tab as JavaScript. The pages themselves have only TypeScript, so
 * nobody keeps a second text up to date. A block that is valid in both languages has no tabs.
 *
 * @param javascript - code by region
 */
export function languageTabs(javascript: ReadonlyMap<string, string>): TabsOf {
  return ({ language, code, region = '' }) => {
    const translated = language === 'ts' ? javascript.get(region) : undefined;
    if (translated === undefined || translated === code) return undefined;
    return [
      { title: 'TypeScript', language, code },
      { title: 'JavaScript', language: 'js', code: translated },
    ];
  };
}
