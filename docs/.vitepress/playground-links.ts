import type { MarkdownRenderer } from 'vitepress';
import { exampleWith } from '../../packages/studio/examples/listed.ts';

/** Files of a page that have a link. */
const linked = new WeakMap<object, Set<string>>();

/** A markdown-it plugin that adds a link to the playground below the first region of each file of an example. */
export function playgroundLinks(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env: object, self) => {
    const html = fence?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const [, file] = /<!-- region: ([^\s#]+)/.exec(tokens[index - 1]?.content ?? '') ?? [];
    const example = file === undefined ? undefined : exampleWith(file);
    if (example === undefined) return html;
    const files = linked.get(env) ?? new Set();
    linked.set(env, files);
    if (files.has(example)) return html;
    files.add(example);
    return `${html}<p class="playground-link"><a href="/studio/index.html#example=${example}" target="_self">Open in the playground</a></p>\n`;
  };
}
