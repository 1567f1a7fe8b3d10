import type { Block, Tab } from './code-groups.ts';

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

/**
 * Shows the installation of packages in a tab for each package manager. The pages themselves have
 * only the commands of npm, so they stay plain Markdown. A block with other commands has no tabs.
 */
export function installTabs({ language, code }: Block): readonly Tab[] | undefined {
  if (language !== 'sh') return undefined;
  const lines = code.trimEnd().split('\n');
  if (!lines.some(isInstall) || !lines.every((line) => isInstall(line) || line.startsWith('npx ')))
    return undefined;
  return managers.map(([title, commands]) => ({
    title,
    language,
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
