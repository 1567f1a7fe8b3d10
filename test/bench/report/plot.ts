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
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

const width = 720;
const rowHeight = 22;
const left = 250;
const right = 90;

/**
 * Draws horizontal bars as an SVG that fits light and dark pages. The bars of one group share a
 * scale.
 */
export function drawPlot({ title, unit, groups }: Plot): string {
  let y = 34;
  const drawn = groups.flatMap(({ label, bars }) => {
    const largest = Math.max(...bars.map(({ value }) => value));
    const heading = `<text x="0" y="${y + 14}" class="group">${escaped(label)}</text>`;
    y += rowHeight;
    const rows = bars.map(({ label: name, value, isOurs = false }) => {
      const length = Math.max(1, ((width - left - right) * value) / largest);
      const row = [
        `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="${rowHeight - 6}" rx="2"${isOurs ? ' class="ours"' : ''}/>`,
        `<text x="${(left + length + 6).toFixed(1)}" y="${y + 15}">${shown(value)} ${escaped(unit)}</text>`,
      ];
      y += rowHeight;
      return row.join('');
    });
    y += 8;
    return [heading, ...rows];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="${escaped(title)}">`,
    `<style>text{font:13px system-ui,sans-serif;fill:#333}.group,.title{font-weight:600}rect{fill:#9aa4b2}.ours{fill:#2f6fdb}`,
    `@media(prefers-color-scheme:dark){text{fill:#ddd}rect{fill:#6b7686}.ours{fill:#5b93f0}}</style>`,
    `<text x="0" y="18" class="title">${escaped(title)}</text>`,
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
