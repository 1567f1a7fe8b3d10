import type { DefaultTheme } from 'vitepress';
import { addressOf, readPages } from './pages.ts';

/**
 * Makes the options of the search, which indexes each section of a page. A page is also found by
 * the `aliases` of its front matter, which count more than titles and text.
 *
 * The pages of the API have an index of their own, because VitePress makes one for each locale, and
 * `api` is a locale of the site. Otherwise, declarations would be the first results of most words.
 */
export function searchOptions(): DefaultTheme.LocalSearchOptions {
  const aliases = new Map(
    readPages('.').map((page) => [addressOf(page.path), page.aliases.join(' ')]),
  );
  // The browser gets this function too. It never calls it there: it loads the finished index.
  const extractField = (section: Section, field: string): string | readonly string[] => {
    if (field !== 'aliases') return section[field as keyof Section];
    // Only the heading of the page has no titles above it.
    return section.titles.length > 0 ? '' : (aliases.get(section.id.split('#')[0] ?? '') ?? '');
  };
  // VitePress passes all options on, and its type lists only some.
  const options = { fields: ['title', 'titles', 'text', 'aliases'], extractField };
  return {
    _render: renderWithoutTabs,
    miniSearch: {
      options,
      searchOptions: {
        boost: { aliases: 16, title: 4, text: 2, titles: 1 },
        // A short word with another letter is another word.
        fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
      },
    },
    locales: {
      api: {
        translations: {
          button: { buttonText: 'Search the API', buttonAriaLabel: 'Search the API' },
        },
      },
    },
  };
}

type Render = NonNullable<DefaultTheme.LocalSearchOptions['_render']>;

/** Renders a page for the index, which has a block once: its other tabs have the same words. */
const renderWithoutTabs: Render = (source, env, md) =>
  md.render(source, { ...env, isWithoutTabs: true });

/** A section of a page, as VitePress gives it to the index. */
interface Section {
  readonly id: string;
  readonly title: string;
  /** Headings above the section. */
  readonly titles: readonly string[];
  readonly text: string;
}
