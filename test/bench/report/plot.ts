/** A bar of a plot. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly isOurs?: boolean;
}

/** Bars with a shared scale. */
export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface Plot {
  readonly title: string;
  /** What ran the code, below the title. */
  readonly on: string;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

/** Width of a plot, and of the text of a page on a phone: there, its labels keep their size. */
const width = 342;
const lineHeight = 20;
const barHeight = 10;

/**
 * Draws horizontal bars as an SVG that fits light and dark pages, each below its label and value.
 * The bars of one group share a scale.
 */
export function drawPlot({ title, on, unit, groups }: Plot): string {
  let y = 50;
  const drawn = groups.flatMap(({ label, bars }) => {
    const largest = Math.max(...bars.map(({ value }) => value));
    const heading = `<text x="0" y="${y + 14}" class="group">${escaped(label)}</text>`;
    y += lineHeight + 2;
    const rows = bars.map(({ label: name, value, isOurs = false }) => {
      const length = Math.max(1, (width * value) / largest);
      const row = [
        `<text x="0" y="${y + 14}">${escaped(name)}</text>`,
        `<text x="${width}" y="${y + 14}" text-anchor="end">${shown(value)} ${escaped(unit)}</text>`,
        `<rect x="0" y="${y + lineHeight}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"${isOurs ? ' class="ours"' : ''}/>`,
      ];
      y += lineHeight + barHeight + 4;
      return row.join('');
    });
    y += 12;
    return [heading, ...rows];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${escaped(title)}, ${escaped(on)}">`,
    `<style>text{font:14px system-ui,sans-serif;fill:#333}.group,.title{font-weight:600}rect{fill:#9aa4b2}.ours{fill:#1f4e8c}`,
    `@media(prefers-color-scheme:dark){text{fill:#ddd}rect{fill:#6b7686}.ours{fill:#9cc4ff}}</style>`,
    `<text x="0" y="14" class="title">${escaped(title)}</text>`,
    `<text x="0" y="34">${escaped(on)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
