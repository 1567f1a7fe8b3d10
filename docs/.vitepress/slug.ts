/**
 * The anchor of a heading, as GitHub makes it: the same links work on the site and in the
 * repository.
 */
export function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
