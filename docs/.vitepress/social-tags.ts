import type { HeadConfig } from 'vitepress';
import { addressOf } from './pages.ts';

/**
 * The tags by which other sites show a link to a page. The image and the address must be absolute,
 * so they are left out until the address of the site is known.
 */
export function socialTags(
  { page, title, summary }: Readonly<Record<'page' | 'title' | 'summary', string>>,
  address: string | undefined,
): HeadConfig[] {
  const tags = [
    tag('og:type', 'website'),
    tag('og:title', title),
    tag('og:description', summary),
    tag('og:site_name', 'mcp-saga'),
  ];
  if (address === undefined) return tags;
  return [
    ...tags,
    tag('og:url', address + addressOf(page)),
    tag('og:image', `${address}/social.png`),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ];
}

function tag(property: string, content: string): HeadConfig {
  return ['meta', { property, content }];
}
