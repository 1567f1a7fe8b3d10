import { didYouMean, nearestName, optionError, type NamesOf } from '@mcp-saga/core/shared';
import type { PageOptions } from '../model/host-options.ts';
import { defaultPageWords, type PageWords } from '../model/page-words.ts';
import { assertKnown } from './known-options.ts';

/** Look of the answer pages of a host. */
export interface PageSettings extends Required<Omit<PageOptions, 'logo' | 'words'>> {
  readonly words: PageWords;
  readonly logo: string | undefined;
}

const pageNames: NamesOf<PageOptions> = { name: true, lang: true, words: true, logo: true };

/**
 * Fills in the defaults of the option `page`. Throws TypeError for a wrong value, so that
 * a mistake is found at the start, and not by a person with a link.
 */
export function toPageSettings(service: string, page: PageOptions = {}): PageSettings {
  assertKnown('page', page, pageNames);
  const { name = service, lang = 'en', words = {}, logo } = page;
  if (isBlank(name)) throw optionError('page.name: expected the name of the service.');
  // A mark of the language in HTML, such as `pt-BR`.
  if (typeof lang !== 'string' || !/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(lang))
    throw optionError("page.lang: expected the tag of a language, such as 'de' or 'pt-BR'.");
  assertWords(words);
  if (logo !== undefined) assertLogo(logo);
  return { name, lang, words: { ...defaultPageWords, ...words }, logo };
}

function isBlank(text: unknown): boolean {
  return typeof text !== 'string' || text.trim() === '';
}

function assertWords(words: NonNullable<PageOptions['words']>): void {
  if (typeof words !== 'object' || words === null)
    throw optionError('page.words: expected an object of texts by their names.');
  for (const [name, text] of Object.entries(words)) {
    if (!Object.hasOwn(defaultPageWords, name)) {
      const names = Object.keys(defaultPageWords);
      throw optionError(
        `page.words has no text '${name}'.${didYouMean(nearestName(name, names))} Texts: ${names.join(', ')}.`,
      );
    }
    // A button or a title without a text would hide what a click decides.
    if (isBlank(text)) throw optionError(`page.words.${name}: expected a text.`);
    const places = placesOf(defaultPageWords[name as keyof PageWords]);
    if (placesOf(text).join() === places.join()) continue;
    throw optionError(
      `page.words.${name}: expected a text with ${places.join(' and ') || 'no {value}'}.`,
    );
  }
}

/** Places of values in a text, each once, such as `{time}`. */
function placesOf(text: string): readonly string[] {
  return [...new Set(text.match(/\{\w+\}/g))].toSorted();
}

/**
 * The policy of the page names the URL of the logo. There, a query has no meaning, a path that ends
 * with a slash allows all that is below it, and other characters end the name or are wildcards.
 */
const logoUrl = /^https:\/\/[a-z\d.-]+(?::\d+)?(?:\/[\w.~%@+=:-]+)+$/;
const logoData = /^data:image\/[\w.+-]+(?:;[\w=-]+)*,[\w.~%!*'()+/=:;,@&$-]+$/;

function assertLogo(logo: unknown): void {
  const text = typeof logo === 'string' ? logo : '';
  // `href` has no dot segments, which the browser removes before it asks the policy.
  if (logoData.test(text) || (logoUrl.test(text) && new URL(text).href === text)) return;
  throw optionError(
    'page.logo: expected an absolute HTTPS URL of an image without a query, or a URL such as data:image/png;base64,….',
  );
}
