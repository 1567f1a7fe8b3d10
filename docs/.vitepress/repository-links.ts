import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { repositoryAddress, root } from './manifest.ts';
import { docs } from './pages.ts';

/**
 * The address of a file in the repository, for the public; undefined while `package.json` has no
 * `repository`.
 */
function publicAddress(file: string): string | undefined {
  if (repositoryAddress === undefined) return undefined;
  return `${repositoryAddress}/blob/main/${relative(root, file).split(sep).join('/')}`;
}

/**
 * Where a relative link leads that leaves `docs`: to the public repository. Without one the link is
 * dropped, and its text stays. Returns undefined for links that stay on the site.
 */
export function leaveDocs(
  page: string,
  href: string,
): { readonly address: string | undefined } | undefined {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return undefined;
  const [path = '', anchor] = href.split('#');
  const file = join(docs, dirname(page), path);
  if (!relative(docs, file).startsWith('..')) return undefined;
  if (!existsSync(file)) throw new Error(`${page} links to ${href}, which does not exist.`);
  const address = publicAddress(file);
  return {
    address: address === undefined || anchor === undefined ? address : `${address}#${anchor}`,
  };
}

/** A markdown-it plugin that turns links to files outside `docs` into links to the repository. */
export function repositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('repository_links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isDropped = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const left = leaveDocs(
            (env as { relativePath: string }).relativePath,
            token.attrGet('href') ?? '',
          );
          isDropped = left !== undefined && left.address === undefined;
          if (left?.address !== undefined) token.attrSet('href', left.address);
        }
        if (isDropped && (token.type === 'link_open' || token.type === 'link_close')) {
          isDropped = token.type === 'link_open';
          token.type = 'text';
          token.tag = '';
          token.nesting = 0;
          token.content = '';
        }
      }
    }
  });
}
