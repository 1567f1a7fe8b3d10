/**
 * Shows the tabs that the reader chose before, in all groups of all pages that have such tabs.
 *
 * The text of this function is a script in the head of each page, so it uses nothing outside of
 * itself. It sees a group as soon as the browser has read it, or as soon as the site shows another
 * page: each time before the browser draws. So the page does not move while it loads.
 */
export function rememberTabs(): void {
  const groups = '.vp-code-group';
  /** The title of the chosen tab, by the titles of all tabs of its group. */
  const chosen = JSON.parse(localStorage.getItem('tabs') ?? '{}') as Record<string, string>;

  // oxlint-disable-next-line unicorn/consistent-function-scoping -- the script has no other scope
  const titlesOf = (group: Element): string[] =>
    [...group.querySelectorAll('label')].map(({ textContent }) => textContent);

  const showChosen = (): void => {
    for (const group of document.querySelectorAll(groups)) {
      const titles = titlesOf(group);
      const index = titles.indexOf(chosen[titles.join()] ?? '');
      const input = group.querySelectorAll('input')[index];
      if (input === undefined) continue;
      input.checked = true;
      for (const [at, block] of group.querySelectorAll('.blocks > *').entries())
        block.classList.toggle('active', at === index);
    }
  };

  new MutationObserver(showChosen).observe(document, { childList: true, subtree: true });

  document.addEventListener('change', ({ target }) => {
    const group = target instanceof Element ? target.closest(groups) : null;
    if (group === null) return;
    const titles = titlesOf(group);
    const index = [...group.querySelectorAll('input')].findIndex((input) => input === target);
    chosen[titles.join()] = titles[index] ?? '';
    localStorage.setItem('tabs', JSON.stringify(chosen));
    const { top } = group.getBoundingClientRect();
    showChosen();
    // Groups above may have another height now. This one stays below the reader's pointer.
    scrollBy({ top: group.getBoundingClientRect().top - top, behavior: 'instant' });
  });
}
