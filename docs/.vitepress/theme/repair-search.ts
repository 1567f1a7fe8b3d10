/**
 * Repairs the roles of the search box of VitePress, for screen readers. VitePress calls the whole
 * box a button, and each result an option with a link inside. Here, the box is a dialog with a list
 * of links.
 */
export function repairSearch(): void {
  new MutationObserver(() => {
    const box = document.querySelector('.VPLocalSearchBox');
    if (box === null) return;
    box.setAttribute('role', 'dialog');
    remove([box], ['aria-expanded', 'aria-haspopup']);
    remove(box.querySelectorAll('[role="listbox"], [role="option"]'), ['role', 'aria-selected']);
    remove(box.querySelectorAll('a.result'), ['aria-label']);
  }).observe(document.body, { childList: true, subtree: true });
}

function remove(elements: Iterable<Element>, names: readonly string[]): void {
  for (const element of elements) for (const name of names) element.removeAttribute(name);
}
