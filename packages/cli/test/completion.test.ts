import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands } from '../src/commands/commands.ts';
import { run } from './command-line.ts';

const script = async (shell: string): Promise<string> => (await run(['completion', shell])).printed;

describe('mcp-saga completion', () => {
  it.each([
    { words: ['t'], completed: ['test'] },
    { words: ['keys', ''], completed: ['new', 'rotate', 'check'] },
    { words: ['keys', 'rotate', '--p'], completed: ['--phase'] },
    { words: ['call', 'refund', '--u'], completed: ['--url'] },
    { words: ['new', '--te'], completed: ['--template'] },
    // The shell completes names of files.
    { words: ['test', 'sagas/'], completed: [] },
  ])('completes $words in bash to $completed', async ({ words, completed }) => {
    const args = words.map((word) => `"${word}"`).join(' ');
    const program = `${await script('bash')}
      COMP_WORDS=(mcp-saga ${args}); COMP_CWORD=${words.length}
      _mcp_saga; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const printed = execFileSync('bash', ['-c', program], { encoding: 'utf8' });
    expect(printed.split('\n').filter(Boolean)).toEqual(completed);
  });

  it.each(['bash', 'zsh', 'fish'])('names every command and option in %s', async (shell) => {
    const text = await script(shell);
    for (const { name, load } of commands) {
      for (const word of name.split(' ')) expect(text).toMatch(new RegExp(`\\b${word}\\b`));
      for (const option of Object.keys((await load()).options))
        expect(text).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`);
    }
  });

  it('refuses another shell, and names those that it knows', async () => {
    const { code, errors } = await run(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(errors).toContain('completion tcsh: expected bash, zsh, fish.');
  });
});
