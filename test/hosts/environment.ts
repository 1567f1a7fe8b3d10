/** Minimal environment of a host, without credentials and without a browser. */
export function baseEnvironment(home: string): { readonly [name: string]: string } {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home, USERPROFILE: home, TERM: 'xterm-256color', BROWSER: 'true' };
}
