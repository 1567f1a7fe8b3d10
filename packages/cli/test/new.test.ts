import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFromFlags } from 'create-mcp-saga';
import { describe, expect, it } from 'vitest';
import { run } from './command-line.ts';

const folder = (): string => join(mkdtempSync(join(tmpdir(), 'mcp-saga-')), 'invoices');

describe('mcp-saga new', () => {
  it('creates the same project as npm create mcp-saga', async () => {
    const [ours, theirs] = [folder(), folder()];
    const flags = ['--template=vercel', '-l', 'js', '-n', 'shop'];
    const printed: string[] = [];
    await createFromFlags([theirs, ...flags], {
      isInteractive: false,
      print: (text) => printed.push(text),
      userAgent: undefined,
    });
    const ran = await run(['new', ours, ...flags]);
    expect(ran).toMatchObject({ code: 0, errors: '' });
    expect(ran.printed.replaceAll(ours, theirs).split('\n')[0]).toBe(
      printed.join('\n').split('\n')[0],
    );
    for (const file of readdirSync(theirs).filter(
      (name) => name.endsWith('.js') || name === 'package.json',
    ))
      expect(readFileSync(join(ours, file), 'utf8'), file).toBe(
        readFileSync(join(theirs, file), 'utf8'),
      );
  });

  it('prints the files as JSON, and settings for the package manager', async () => {
    const dir = folder();
    const environment = { npm_config_user_agent: 'pnpm/12.21.0' };
    const { code, printed } = await run(['new', dir, '--json'], { environment });
    expect(code).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({
      dir,
      name: 'invoices',
      files: expect.arrayContaining(['server.ts', 'pnpm-workspace.yaml']),
    });
  });

  it('refuses an unknown template with 2, and a folder in use with 1', async () => {
    expect(await run(['new', folder(), '-t', 'nod'])).toMatchObject({ code: 2, printed: '' });
    const { code, printed } = await run(['new', join(folder(), '..', '..'), '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({ error: { code: 'folder_not_empty' } });
  });
});
