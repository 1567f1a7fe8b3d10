import type { MarkdownRenderer } from 'vitepress';

/** A block of code on a page. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** The region in the comment above the block: `test/readme/deploy.ts#saga`. */
  readonly region?: string | undefined;
}

/** A tab with a block of code. */
export interface Tab {
  readonly title: string;
  readonly language: string;
  readonly code: string;
}

/** Returns the tabs that replace a block; undefined for a block that stays as it is. */
export type TabsOf = (block: Block) => readonly Tab[] | undefined;

/**
 * A markdown-it plugin that shows some blocks in tabs, by the first function that returns tabs. A
 * page whose environment has `isWithoutTabs` stays as it is.
 */
export function codeGroups(md: MarkdownRenderer, makers: readonly TabsOf[]): void {
  md.core.ruler.after('block', 'code_groups', (state) => {
    if ((state.env as { readonly isWithoutTabs?: true }).isWithoutTabs) return;
    state.tokens = state.tokens.flatMap((token, index, all) => {
      if (token.type !== 'fence') return [token];
      const block = {
        language: token.info.trim(),
        code: token.content,
        region: regionIn(all[index - 1]?.content),
      };
      const tabs = makers.map((tabsOf) => tabsOf(block)).find((each) => each !== undefined);
      if (tabs === undefined) return [token];
      const open = new state.Token('container_code-group_open', 'div', 1);
      const close = new state.Token('container_code-group_close', 'div', -1);
      const fences = tabs.map(({ title, language, code }) => {
        const fence = new state.Token('fence', 'code', 0);
        return Object.assign(fence, {
          block: true,
          content: code,
          info: `${language} [${title}]`,
          markup: token.markup,
          map: token.map,
        });
      });
      return [open, ...fences, close];
    });
  });
}

/** The region that a comment names; undefined for other text. */
export function regionIn(comment = ''): string | undefined {
  return /<!-- region: (\S+)/.exec(comment)?.[1];
}
