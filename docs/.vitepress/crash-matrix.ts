import type { MarkdownRenderer } from 'vitepress';

/**
 * A markdown-it plugin that draws a crash matrix: a line for each step, question, and turn, with its
 * cases. A click anywhere opens the tool of the matrix in the playground.
 */
export function crashMatrix(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const [, example] = /^matrix (\S+)$/.exec(token?.info.trim() ?? '') ?? [];
    if (token === undefined || example === undefined)
      return fence?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
    const rows = token.content
      .trim()
      .split('\n')
      .map((line) => line.split(' | ').map((text) => md.utils.escapeHtml(text)));
    const body = rows.map(([subject, ...cases]) => {
      const cells = cases.map(
        (each) => `<span class="${each.startsWith('✓') ? 'holds' : 'breaks'}">${each}</span>`,
      );
      return `<tr><th scope="row">${subject}</th><td>${cells.join(' ')}</td></tr>`;
    });
    const link = `<a href="/studio/index.html#example=${example}" target="_self">Break it in the playground</a>`;
    return `<div class="matrix"><table v-pre><caption class="visually-hidden">Crash matrix: each case is a run with one fault</caption><tbody>${body.join('')}</tbody></table><p>${link}</p></div>\n`;
  };
}
