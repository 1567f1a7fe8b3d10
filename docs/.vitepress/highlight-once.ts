import type { MarkdownRenderer } from 'vitepress';

/**
 * A markdown-it plugin that highlights equal code once: the index of the search renders each page
 * again, and highlighting takes most of the time of a build.
 */
export function highlightOnce(md: MarkdownRenderer): void {
  const { highlight } = md.options;
  if (highlight == null) return;
  const done = new Map<string, string>();
  md.options.highlight = (...code) => {
    const key = JSON.stringify(code);
    const html = done.get(key) ?? highlight(...code);
    done.set(key, html);
    return html;
  };
}
