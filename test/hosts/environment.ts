/** Environment of a host: nothing of this process's own but what a program needs to start. No page is opened. */
export function baseEnvironment(home: string): { readonly [name: string]: string } {
  const { PATH = '', LANG = 'C.UTF-8' } = process.env;
  return { PATH, LANG, HOME: home, USERPROFILE: home, TERM: 'xterm-256color', BROWSER: 'true' };
}
