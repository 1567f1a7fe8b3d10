import { expect, it } from 'vitest';
import { socialTags } from '../../docs/.vitepress/social-tags.ts';

const page = { page: 'operate/fleet.md', title: 'What a fleet needs', summary: 'Keys and stores.' };

it('a page names its title and sentence for other sites', () => {
  expect(socialTags(page, undefined)).toEqual(
    expect.arrayContaining([
      ['meta', { property: 'og:title', content: 'What a fleet needs' }],
      ['meta', { property: 'og:description', content: 'Keys and stores.' }],
    ]),
  );
});

it('a page has a picture for other sites only if the site has an address, because it must be absolute', () => {
  const picture = ['meta', { property: 'og:image', content: 'https://saga.example/social.png' }];
  const address = [
    'meta',
    { property: 'og:url', content: 'https://saga.example/operate/fleet.html' },
  ];
  const known = socialTags(page, 'https://saga.example');
  expect(known).toEqual(expect.arrayContaining([picture, address]));
  expect(JSON.stringify(socialTags(page, undefined))).not.toContain('og:image');
});
