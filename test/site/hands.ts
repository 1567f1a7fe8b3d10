import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Input device of a person. Both devices type text with the keyboard. */
export interface Hand {
  /** Presses a button, opens a fold, or checks a box. */
  press(control: Locator): Promise<void>;
  /** Presses a cell of the crash matrix. */
  pressCell(cell: Locator): Promise<void>;
  /** Chooses an option of a list by its value. */
  choose(list: Locator, value: string): Promise<void>;
  /** Moves into a field, and replaces its text. */
  write(field: Locator, text: string): Promise<void>;
  /** Moves into the editor. */
  enter(editor: Locator): Promise<void>;
  /** Selects a line of the editor, counted from 0, without its line break. */
  selectLine(editor: Locator, line: number): Promise<void>;
}

function mouseOf(page: Page): Hand {
  return {
    press: async (control) => await control.click(),
    pressCell: async (cell) => await cell.click(),
    choose: async (list, value) => void (await list.selectOption(value)),
    async write(field, text) {
      await field.click({ clickCount: 3 });
      await page.keyboard.type(text);
    },
    enter: async (editor) => await editor.click(),
    async selectLine(editor, line) {
      // The editor draws no lines far above the window, so the first ones come into view.
      await editor.hover();
      await page.mouse.wheel(0, -10_000);
      const scroller = page.locator('.cm-scroller');
      await expect.poll(() => scroller.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
      await editor.locator('.cm-gap:first-child').waitFor({ state: 'detached' });
      const target = editor.locator('.cm-line').nth(line);
      await target.click({ position: { x: 1, y: 4 } });
      const { width, height } = (await target.boundingBox()) ?? { width: 0, height: 0 };
      await target.click({ position: { x: width - 2, y: height - 4 }, modifiers: ['Shift'] });
    },
  };
}

/** Reaches each control with Tab, and fails if an action loses the focus. */
function keyboardOf(page: Page): Hand {
  let hasStarted = false;
  /** Presses a key until a condition is true. */
  async function pressUntil(
    key: string,
    limit: number,
    isDone: () => Promise<boolean>,
  ): Promise<void> {
    for (let presses = 0; presses < limit; presses += 1) {
      if (await isDone()) return;
      await page.keyboard.press(key);
    }
    throw new Error(`${limit} times ${key} do not reach the control.`);
  }
  const hasFocus = (target: Locator): Promise<boolean> =>
    target.evaluate((element) => element === document.activeElement);
  async function tabTo(target: Locator): Promise<void> {
    // At first, no control has the focus.
    if (hasStarted) await page.locator(':focus').waitFor();
    hasStarted = true;
    const isBefore = await target.evaluate((element) => {
      const { activeElement: focused, body } = document;
      if (focused === null || focused === body) return false;
      return (focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING) > 0;
    });
    await pressUntil(isBefore ? 'Shift+Tab' : 'Tab', 60, () => hasFocus(target));
  }
  return {
    async press(control) {
      await tabTo(control);
      const isBox = await control.evaluate((element) => element.matches('[type=checkbox]'));
      await page.keyboard.press(isBox ? 'Space' : 'Enter');
    },
    async pressCell(cell) {
      await tabTo(page.locator('.cell[tabindex="0"]'));
      await pressUntil('ArrowRight', 60, () => hasFocus(cell));
      await page.keyboard.press('Enter');
    },
    async choose(list, value) {
      await tabTo(list);
      await page.keyboard.press('Home');
      await pressUntil('ArrowDown', 60, async () => (await list.inputValue()) === value);
    },
    async write(field, text) {
      await tabTo(field);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
    },
    enter: tabTo,
    async selectLine(editor, line) {
      await tabTo(editor);
      await page.keyboard.press('ControlOrMeta+Home');
      const target = editor.locator('.cm-line').nth(line);
      await pressUntil('ArrowDown', 60, () =>
        target.evaluate((element) => element.matches('.cm-activeLine')),
      );
      // In a wrapped line, the first press reaches only the end of the row.
      await page.keyboard.press('Shift+End');
      await page.keyboard.press('Shift+End');
    },
  };
}

export const hands: { readonly [device in 'mouse' | 'keyboard']: (page: Page) => Hand } = {
  mouse: mouseOf,
  keyboard: keyboardOf,
};
