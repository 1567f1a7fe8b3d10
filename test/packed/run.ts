import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs a command.
 *
 * @returns what it printed
 * @throws Error with what it printed
 */
export async function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: { readonly [name: string]: string } = {},
): Promise<string> {
  const options = {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    shell: process.platform === 'win32' && file.startsWith('np'),
    maxBuffer: 64 * 1024 * 1024,
  };
  try {
    const { stdout } = await promisify(execFile)(file, args, options);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as {
      readonly stdout?: string;
      readonly stderr?: string;
    };
    throw new Error(`${file} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}
