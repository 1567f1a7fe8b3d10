import type { MarkdownRenderer } from 'vitepress';
import { exampleWith } from '../../packages/studio/examples/listed.ts';

/** Examples of a page that have a link. */
const linked = new WeakMap<object, Set<string>>();

/**
 * A markdown-it plugin that adds a link to the playground below the first region of each example.
 */
export function playgroundLinks(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env: object, self) => {
    const html =
      fence?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const [, region] = /<!-- region: (\S+)/.exec(tokens[index - 1]?.content ?? '') ?? [];
    const example = region === undefined ? undefined : exampleWith(region);
    if (example === undefined) return html;
    const examples = linked.get(env) ?? new Set();
    linked.set(env, examples);
    if (examples.has(example)) return html;
    examples.add(example);
    return `${html}<p class="playground-link"><a href="/studio/index.html#example=${example}" target="_self">Open in the playground</a></p>\n`;
  };
}
