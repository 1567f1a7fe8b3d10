import type { MarkdownRenderer } from 'vitepress';

/** Package managers in the order of their tabs, with their commands for those of npm. */
const managers: readonly (readonly [name: string, commands: ReadonlyMap<RegExp, string>])[] = [
  ['npm', new Map()],
  [
    'pnpm',
    new Map([
      [/^npm install /, 'pnpm add '],
      [/^npx /, 'pnpm exec '],
    ]),
  ],
  [
    'yarn',
    new Map([
      [/^npm install --save-dev /, 'yarn add --dev '],
      [/^npm install /, 'yarn add '],
      [/^npx /, 'yarn '],
    ]),
  ],
];

/** Translates the commands of a block into those of each manager; undefined if there are others. */
export function installTabs(
  code: string,
): readonly { readonly manager: string; readonly code: string }[] | undefined {
  const lines = code.trimEnd().split('\n');
  if (!lines.some(isInstall) || !lines.every((line) => isInstall(line) || line.startsWith('npx ')))
    return undefined;
  return managers.map(([manager, commands]) => ({
    manager,
    code: `${lines.map((line) => translated(line, commands)).join('\n')}\n`,
  }));
}

/**
 * `true` for packages of the registry. Tarballs depend on each other, and the other managers would
 * look for these packages in the registry.
 */
function isInstall(line: string): boolean {
  return /^npm install (?!.*\.tgz)/.test(line);
}

function translated(line: string, commands: ReadonlyMap<RegExp, string>): string {
  const found = [...commands].find(([pattern]) => pattern.test(line));
  return found === undefined ? line : line.replace(...found);
}

/**
 * A markdown-it plugin that shows the installation of packages in a tab for each package manager.
 * The pages themselves have only the commands of npm, so they stay plain Markdown.
 */
export function installTabsPlugin(md: MarkdownRenderer): void {
  md.core.ruler.after('block', 'install_tabs', (state) => {
    state.tokens = state.tokens.flatMap((token) => {
      const tabs =
        token.type === 'fence' && token.info.trim() === 'sh'
          ? installTabs(token.content)
          : undefined;
      if (tabs === undefined) return [token];
      const open = new state.Token('container_code-group_open', 'div', 1);
      const close = new state.Token('container_code-group_close', 'div', -1);
      const fences = tabs.map(({ manager, code }) => {
        const fence = new state.Token('fence', 'code', 0);
        return Object.assign(fence, {
          block: true,
          content: code,
          info: `sh [${manager}]`,
          markup: token.markup,
          map: token.map,
        });
      });
      return [open, ...fences, close];
    });
  });
}
