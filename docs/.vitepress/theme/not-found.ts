import { h, type VNode } from 'vue';

/** Where readers of a lost page find what they look for. */
const places = [
  ['/', 'Front page'],
  ['/guides/', 'Guides'],
  ['/reference/errors.html', 'Error codes'],
  ['/reference/troubleshooting.html', 'Troubleshooting'],
] as const;

/** The page for an address that has no page. */
export function notFound(): VNode {
  return h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'This page does not exist'),
    h('p', 'It may have moved. Search for it with Ctrl K, or start here:'),
    h(
      'ul',
      places.map(([href, text]) => h('li', h('a', { href }, text))),
    ),
  ]);
}
