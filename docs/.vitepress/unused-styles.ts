/** Parts of the theme of VitePress that no page has: another search, teams, sponsors, and heroes. */
const unused =
  /@docsearch\/css|\/vp-sponsor\.css|\/VP(?:AlgoliaSearchBox|\w*CarbonAds|\w*Sponsors\w*|Team\w+|Hero|Home\w*|Features?)\.vue\?.*type=style/;

interface StylePlugin {
  readonly name: string;
  readonly enforce: 'pre';
  load(id: string): string | undefined;
}

/**
 * A plugin that leaves out styles of the theme: VitePress puts those of all its components into one
 * file, which each page loads.
 */
export function withoutUnusedStyles(): StylePlugin {
  return {
    name: 'without-unused-styles',
    enforce: 'pre',
    load: (id) => (unused.test(id) ? '' : undefined),
  };
}
