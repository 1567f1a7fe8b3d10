import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { docs } from './pages.ts';

/**
 * A markdown-it plugin that puts the plots of measurements into the page. As images, they would
 * have the colors of the system, and not those that the reader chose.
 */
export function plots(md: MarkdownRenderer): void {
  const { image } = md.renderer.rules;
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const source = tokens[index]?.attrGet('src') ?? '';
    if (!/^\/performance\/[\w-]+\.svg$/.test(source))
      return image?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const svg = readFileSync(join(docs, 'public', source), 'utf8');
    const unstyled = svg.replace(/<style>[^]*?<\/style>/, '').replaceAll('\n', '');
    return `<span class="plot" v-pre>${unstyled}</span>`;
  };
}
