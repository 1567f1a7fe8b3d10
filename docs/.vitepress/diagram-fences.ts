import type { MarkdownRenderer } from 'vitepress';
import { drawSequence, parseSequence } from './sequence-diagram.ts';

/** A markdown-it plugin that draws each diagram of a page. */
export function diagramFences(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() !== 'mermaid')
      return fence?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const svg = drawSequence(parseSequence(token.content));
    return `<figure class="diagram" tabindex="0" aria-label="Diagram" v-pre>${svg}</figure>\n`;
  };
}
