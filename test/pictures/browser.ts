import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

/** What became of a diagram in a browser. */
export interface Drawn {
  /** The text in the picture, or on the page if there is no picture. */
  readonly text: string;
  /** The picture, empty if there is none. */
  readonly svg: string;
  /** Error of the diagram, if any. */
  readonly error?: string;
}

/** A browser that draws Mermaid's diagrams. */
export interface Drawing {
  /** Draws a diagram, as a page with Mermaid on it does. */
  draw(diagram: string): Promise<Drawn>;
  /** Returns the error of a diagram by Mermaid's grammar; undefined for a valid one. */
  faultOf(diagram: string): Promise<string | undefined>;
  /** Takes a picture of the last drawing: a PNG. */
  photograph(path: string): Promise<void>;
  close(): Promise<void>;
}

const switches = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const mermaidScript = fileURLToPath(new URL('mermaid.min.js', import.meta.resolve('mermaid')));

/** Starts a browser with a profile of its own, which goes with it. */
export async function startDrawing(executablePath: string): Promise<Drawing> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-pictures-'));
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath,
    args: switches,
    headless: true,
    // Files beside its profile go there, too.
    env: { ...process.env, HOME: folder },
    viewport: { width: 1400, height: 1000 },
  });
  const close = async (): Promise<void> => {
    await context.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    await page.setContent(
      '<!doctype html><body style="margin: 16px; background: white"><div id="place"></div>',
    );
    await page.addScriptTag({ path: mermaidScript });
    await page.evaluate(() => globalThis.mermaid.initialize({ startOnLoad: false }));
    return {
      draw: (diagram) =>
        page.evaluate(async (source): Promise<Drawn> => {
          const place = document.querySelector('#place') as HTMLElement;
          place.innerHTML = '';
          try {
            const { svg } = await globalThis.mermaid.render('drawn', source);
            place.innerHTML = svg;
            const copy = place.cloneNode(true) as HTMLElement;
            for (const style of copy.querySelectorAll('style')) style.remove();
            return { svg, text: copy.textContent };
          } catch (error) {
            return { svg: '', text: document.body.textContent, error: String(error) };
          }
        }, diagram),
      faultOf: (diagram) =>
        page.evaluate(
          (source) => globalThis.mermaid.parse(source).then(() => undefined, String),
          diagram,
        ),
      photograph: async (path) => {
        await page.locator('#place svg').screenshot({ path });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

declare global {
  /** The script of Mermaid in the page. */
  // oxlint-disable-next-line no-var -- a global of the page
  var mermaid: {
    initialize(config: object): void;
    render(id: string, source: string): Promise<{ readonly svg: string }>;
    parse(source: string): Promise<unknown>;
  };
}
