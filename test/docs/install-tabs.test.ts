import { expect, it } from 'vitest';
import { installTabs } from '../../docs/.vitepress/install-tabs.ts';

it('an installation has the commands of npm, pnpm, and yarn', () => {
  const npm = 'npm install zod\nnpm install --save-dev vitest\nnpx vitest run\n';
  expect(installTabs({ language: 'sh', code: npm })).toEqual([
    { title: 'npm', language: 'sh', code: npm },
    {
      title: 'pnpm',
      language: 'sh',
      code: 'pnpm add zod\npnpm add --save-dev vitest\npnpm exec vitest run\n',
    },
    {
      title: 'yarn',
      language: 'sh',
      code: 'yarn add zod\nyarn add --dev vitest\nyarn vitest run\n',
    },
  ]);
});

it.each(['npm install ../a.tgz\n', 'npx tsx server.ts\n', 'npm init -y\nnpm install zod\n'])(
  'other commands have no tabs: %j',
  (code) => {
    expect(installTabs({ language: 'sh', code })).toBeUndefined();
  },
);
