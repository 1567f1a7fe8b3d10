import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { codeGroups } from './code-groups.ts';
import { crashMatrix } from './crash-matrix.ts';
import { diagramFences } from './diagram-fences.ts';
import { highlightOnce } from './highlight-once.ts';
import { installTabs } from './install-tabs.ts';
import { readJavaScript } from './javascript.ts';
import { languageTabs } from './language-tabs.ts';
import { writeForModels } from './llms.ts';
import { repositoryAddress, siteAddress, version } from './manifest.ts';
import { linkTo, readPages, sidebar } from './pages.ts';
import { playgroundLinks } from './playground-links.ts';
import { plots } from './plots.ts';
import { rememberTabs } from './remember-tabs.ts';
import { repositoryLinks } from './repository-links.ts';
import { searchOptions } from './search.ts';
import { slugify } from './slug.ts';
import { socialTags } from './social-tags.ts';
import { withoutUnusedStyles } from './unused-styles.ts';

const title = 'mcp-saga';
const description =
  'Write a multi-step MCP tool once, as code that reads straight down. The server keeps no state between requests.';

const javascript = await readJavaScript();

/** An item of the bar at the top, which leads to the first page of a folder. */
function navItem(
  text: string,
  folder: string,
  activeMatch: string,
): DefaultTheme.NavItemWithLink[] {
  const [first] = readPages(folder);
  return first === undefined ? [] : [{ text, link: linkTo(first.path), activeMatch }];
}

export default defineConfig({
  title,
  description,
  lang: 'en-US',
  // Locales without a label add no menu of languages. The declarations are one for the search alone.
  locales: { root: { label: '' }, api: { label: '' } },
  lastUpdated: false,
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }],
    ['script', {}, `(${rememberTabs.toString()})()`],
  ],
  srcExclude: ['node_modules/**'],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    toc: { slugify },
    config: (md) => {
      md.use(highlightOnce);
      md.use(repositoryLinks);
      md.use(diagramFences);
      md.use(crashMatrix);
      md.use(codeGroups, [installTabs, languageTabs(javascript)]);
      md.use(plots);
      md.use(playgroundLinks);
    },
  },
  themeConfig: {
    nav: [
      ...navItem('Guide', 'start', '^/(?:start|tutorial|guides|operate)/'),
      ...navItem('Reference', 'reference', '^/(?:reference|spec)/'),
      ...navItem('API', 'api', '^/api/'),
      // A page of its own: the router of the site does not know it.
      { text: 'Playground', link: '/studio/index.html', target: '_self' },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: searchOptions() },
    logoLink: '/',
    ...(repositoryAddress === undefined
      ? {}
      : {
          socialLinks: [{ icon: 'github', link: repositoryAddress }],
          editLink: { pattern: `${repositoryAddress}/edit/main/docs/:path` },
        }),
  },
  ...(siteAddress === undefined ? {} : { sitemap: { hostname: siteAddress } }),
  transformPageData(page) {
    // The pages of the API are generated.
    if (page.relativePath.startsWith('api/')) page.frontmatter['editLink'] = false;
  },
  transformHead: ({ page, title: pageTitle, description: summary }) =>
    socialTags({ page, title: pageTitle, summary }, siteAddress),
  // Links in view are not loaded ahead: a reader follows one of them at most.
  router: { prefetchLinks: false },
  vite: {
    define: { packageVersion: JSON.stringify(version) },
    plugins: [withoutUnusedStyles()],
  },
  buildEnd: async ({ outDir }) => {
    await writeForModels(outDir, title, description);
    await cp(new URL('../../packages/studio/dist/app/', import.meta.url), join(outDir, 'studio'), {
      recursive: true,
    });
  },
});
