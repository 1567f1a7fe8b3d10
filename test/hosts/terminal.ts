import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Running } from './host.ts';
import { installHost } from './install-host.ts';

/** Options of a program in a pseudo-terminal. */
export interface TerminalOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /**
   * Returns the user's input for a screen. Called when the screen changes, or after two seconds.
   */
  readonly keys: (screen: string) => string | undefined;
}

interface Pty {
  onData(listener: (data: string) => void): void;
  onExit(listener: () => void): void;
  write(data: string): void;
  kill(signal?: string): void;
}

interface PtyModule {
  readonly spawn: (command: string, args: readonly string[], options: object) => Pty;
}

interface Screen {
  write(data: string): void;
  onData(listener: (data: string) => void): void;
  readonly buffer: {
    readonly active: {
      readonly baseY: number;
      getLine(row: number): { translateToString(trimRight: boolean): string } | undefined;
    };
  };
}

interface ScreenModule {
  readonly Terminal: new (options: object) => Screen;
}

const size = { cols: 140, rows: 50 };
const lookMs = 250;
const settledMs = 500;
const againMs = 2_000;

/** Runs a program in a pseudo-terminal, and types the user's input. */
export async function runInTerminal(options: TerminalOptions): Promise<Running> {
  const { command, args, cwd, env, keys } = options;
  const installed = await installHost(['@lydell/node-pty@1.1.0', '@xterm/headless@6.0.0']);
  const load = createRequire(join(installed, 'package.json'));
  const { spawn } = load('@lydell/node-pty') as PtyModule;
  const { Terminal } = load('@xterm/headless') as ScreenModule;
  const screen = new Terminal({ ...size, allowProposedApi: true });
  const pty = spawn(command, args, { ...size, name: 'xterm-256color', cwd, env });
  pty.onData((data) => screen.write(data));
  // Answers the terminal queries of the program.
  screen.onData((data) => pty.write(data));
  const ended = new Promise<void>((resolve) => pty.onExit(resolve));
  let seen = '';
  let typed = { at: 0, on: '' };
  const look = setInterval(() => {
    const text = textOf(screen);
    // A screen that still changes is incomplete.
    const isComplete = text === seen;
    seen = text;
    if (!isComplete || Date.now() - typed.at < (text === typed.on ? againMs : settledMs)) return;
    const pressed = keys(text);
    if (pressed === undefined) return;
    typed = { at: Date.now(), on: text };
    pty.write(pressed);
  }, lookMs);
  void ended.then(() => clearInterval(look));
  return {
    get output() {
      return textOf(screen);
    },
    ended,
    stop: async () => {
      pty.kill('SIGKILL');
      await ended;
    },
  };
}

function textOf({ buffer: { active } }: Screen): string {
  const lines = Array.from(
    { length: size.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
  );
  return lines.join('\n').replaceAll('\u00a0', ' ').trimEnd();
}
