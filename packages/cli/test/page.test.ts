import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands/commands.ts';
import { usage, usageOf } from '../src/usage.ts';

const page = readFileSync(
  new URL('../../../docs/reference/command-line.md', import.meta.url),
  'utf8',
);

describe('the page of the command line', () => {
  it('shows the help', () => {
    expect(page).toContain(`\`\`\`text\n${usage()}\n\`\`\``);
  });

  it.each(commands)('shows the help of $name', async (listed) => {
    const help = usageOf(listed, await listed.load());
    expect(page).toContain(`## \`${listed.name}\`\n\n\`\`\`text\n${help}\n\`\`\``);
  });
});
