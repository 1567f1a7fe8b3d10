import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';

/** A line of a terminal, and the second at which it appears. */
export interface Line {
  readonly text: string;
  readonly atSeconds: number;
}

const columns = 112;
const lineHeight = 18;
const charWidth = 7.8;

/** Wraps long lines as in a terminal, and gives each line a readable pause. */
export function toLines(output: string): readonly Line[] {
  let atSeconds = 0;
  return output
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      // The pause after a request line is longer.
      atSeconds += /Request \d/.test(line) ? 1.2 : 0.3;
      const parts = line.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''];
      return parts.map((text) => ({ text, atSeconds }));
    });
}

/** Runs the quickstart with scripted answers, and draws what it prints. */
export async function drawQuickstart(): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'examples/quickstart/start.ts', '--yes'],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)) },
  );
  const output = stripVTControlCharacters(`$ npx -y pnpm@12.21.0 start --yes\n${stdout}`);
  return drawRecording(toLines(output), 'The quickstart: two processes serve one saga in turns');
}

/**
 * Draws lines as an animated SVG, which shows all lines at once to readers who prefer reduced
 * motion.
 */
export function drawRecording(lines: readonly Line[], title: string): string {
  const height = lines.length * lineHeight + 40;
  const width = Math.ceil(columns * charWidth) + 40;
  const rows = lines.map(({ text, atSeconds }, index) => {
    const [, mark = '', rest = ''] = /^([│┌└◇◆●◒]?)(.*)$/u.exec(text) ?? [];
    const y = 32 + index * lineHeight;
    const delay = `style="animation-delay:${atSeconds.toFixed(1)}s"`;
    return `  <text x="20" y="${y}" ${delay}><tspan class="mark">${mark}</tspan>${escape(rest)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escape(title)}">
  <title>${escape(title)}</title>
  <style>
    rect { fill: #16181d }
    text { fill: #e6e6e6; font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; opacity: 0; animation: show 0s forwards }
    .mark { fill: #6cc7d8 }
    @keyframes show { to { opacity: 1 } }
    @media (prefers-reduced-motion: reduce) { text { opacity: 1; animation: none } }
  </style>
  <rect width="100%" height="100%" rx="8" />
${rows.join('\n')}
</svg>
`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Draws a badge: a label, and a value on a colored ground. */
export function drawBadge(label: string, value: string): string {
  const width = (text: string): number => Math.ceil(text.length * 6.6) + 14;
  const [left, right] = [width(label), width(value)];
  const title = `${label}: ${value}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">
  <title>${title}</title>
  <rect width="${left + right}" height="20" rx="3" fill="#1f5f2f" />
  <path d="M3 0h${left - 3}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3d4148" />
  <g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" text-anchor="middle">
    <text x="${left / 2}" y="14">${label}</text>
    <text x="${left + right / 2}" y="14">${value}</text>
  </g>
</svg>
`;
}

/** The badge of the client matrix. */
export function matrixBadge(clients: number): string {
  return drawBadge('client matrix', `${clients} clients, ${clients} pass`);
}
