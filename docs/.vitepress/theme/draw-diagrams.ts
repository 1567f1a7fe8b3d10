import mermaidUrl from 'mermaid/dist/mermaid.min.js?url';

interface Mermaid {
  initialize(config: object): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

let loading: Promise<Mermaid> | undefined;
let count = 0;

/**
 * Draws each diagram of the page in the colors of the theme. Mermaid is loaded with the first
 * diagram.
 */
export async function drawDiagrams(isDark: boolean): Promise<void> {
  const figures = [...document.querySelectorAll<HTMLElement>('figure.mermaid')];
  if (figures.length === 0) return;
  const mermaid = await (loading ??= loadMermaid());
  mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'neutral' });
  for (const figure of figures) {
    figure.dataset['source'] ??= figure.textContent;
    const { svg } = await mermaid.render(`diagram-${(count += 1)}`, figure.dataset['source']);
    figure.innerHTML = svg;
  }
}

function loadMermaid(): Promise<Mermaid> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = mermaidUrl;
    script.addEventListener('load', () =>
      resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid),
    );
    script.addEventListener('error', () => reject(new Error('Mermaid could not be loaded.')));
    document.head.append(script);
  });
}
