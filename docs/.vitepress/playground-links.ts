import type { MarkdownRenderer } from 'vitepress';
import { exampleWith } from '../../packages/studio/examples/listed.ts';
import { regionIn } from './code-groups.ts';

/**
 * A markdown-it plugin that adds a link to the playground below the first region of each example,
 * before the block becomes a group of tabs.
 */
export function playgroundLinks(md: MarkdownRenderer): void {
  md.core.ruler.before('code_groups', 'playground_links', (state) => {
    const linked = new Set<string>();
    state.tokens = state.tokens.flatMap((token, index, all) => {
      const region = token.type === 'fence' ? regionIn(all[index - 1]?.content) : undefined;
      const example = region === undefined ? undefined : exampleWith(region);
      if (example === undefined || linked.has(example)) return [token];
      linked.add(example);
      const link = new state.Token('html_block', '', 0);
      link.content = `<p class="playground-link"><a href="/studio/index.html#example=${example}" target="_self">Open in the playground</a></p>\n`;
      return [token, link];
    });
  });
}
