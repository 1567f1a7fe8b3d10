/**
 * Removes control characters, by which a server could rewrite the screen of a terminal. Keeps tabs
 * and line breaks.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, '');
}
