import type { MarkdownRenderer } from 'vitepress';

/**
 * A markdown-it plugin that leaves diagrams to the browser: the theme draws each `figure.mermaid`.
 */
export function mermaidFences(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() !== 'mermaid')
      return fence?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const source = md.utils.escapeHtml(token.content);
    return `<figure class="mermaid" tabindex="0" aria-label="Diagram"><pre v-pre>${source}</pre></figure>\n`;
  };
}
