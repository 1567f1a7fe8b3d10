/**
 * Repairs roles of VitePress, for screen readers.
 *
 * VitePress calls the whole search box a button, and each result an option with a link inside. Here,
 * the box is a dialog with a list of links. It calls the heading of a group in the sidebar a button,
 * and the arrow inside it another one. Here, only the heading is one, and it says if the group is
 * open.
 */
export function repairRoles(): void {
  repair();
  const changes = { childList: true, subtree: true, attributeFilter: ['class'] };
  new MutationObserver(repair).observe(document.body, changes);
}

function repair(): void {
  repairSearch();
  repairSidebar();
}

function repairSearch(): void {
  const box = document.querySelector('.VPLocalSearchBox');
  if (box === null) return;
  box.setAttribute('role', 'dialog');
  remove([box], ['aria-expanded', 'aria-haspopup']);
  remove(box.querySelectorAll('[role="listbox"], [role="option"]'), ['role', 'aria-selected']);
  remove(box.querySelectorAll('a.result'), ['aria-label']);
}

function repairSidebar(): void {
  for (const group of document.querySelectorAll('.VPSidebarItem.collapsible')) {
    const heading = group.querySelector(':scope > .item[role="button"]');
    const caret = heading?.querySelector('.caret');
    heading?.setAttribute('aria-expanded', String(!group.classList.contains('collapsed')));
    if (caret != null) remove([caret], ['role', 'aria-label', 'tabindex']);
  }
}

function remove(elements: Iterable<Element>, names: readonly string[]): void {
  for (const element of elements) for (const name of names) element.removeAttribute(name);
}
