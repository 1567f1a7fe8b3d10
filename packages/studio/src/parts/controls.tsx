import { useSignal } from '@preact/signals';
import type { ButtonHTMLAttributes, JSX, ComponentChildren, RenderableProps } from 'preact';

export function Button(props: ButtonHTMLAttributes): JSX.Element {
  return <button type="button" {...props} />;
}

/** Shows the run, which is out of view on a phone after a click in a list. */
export const scrollToRun = (): void => document.querySelector('.run')?.scrollIntoView();

/**
 * Watches the control with the focus. The result moves the focus to the open question, the outcome,
 * or the chart if it has left.
 */
export function watchFocus(): () => void {
  const isUsed = document.activeElement !== document.body;
  const next = '.run > .question, .verdict:not(:has(~ .question)), section.canvas';
  const keepFocus = (): void => {
    if (!isUsed || document.activeElement !== document.body) return;
    const element = document.querySelector<HTMLElement>(next);
    // The `focus` of a form is one of its fields, if that has this name.
    if (element !== null) HTMLElement.prototype.focus.call(element, { preventScroll: true });
  };
  return () => void requestAnimationFrame(keepFocus);
}

type CopyButtonProps = { readonly label: string; readonly text: () => string | Promise<string> };

export function CopyButton({ label, text }: CopyButtonProps): JSX.Element {
  const said = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text());
      said.value = 'Copied';
    } catch {
      said.value = 'Not allowed by the browser';
    }
    setTimeout(() => (said.value = ''), 2_000);
  };
  return (
    <Button onClick={() => void copy()}>
      {said.value === '' ? label : said.value}
      <span class="hidden" role="status">
        {said.value}
      </span>
    </Button>
  );
}

export function Failure({ text }: { readonly text: string | undefined }): JSX.Element | null {
  return text === undefined ? null : (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}

type FoldProps = RenderableProps<{
  readonly summary: ComponentChildren;
  readonly class?: string;
}>;

/** Details whose content is drawn on opening. A long run has hundreds of details. */
export function Fold({ summary, children, ...attributes }: FoldProps): JSX.Element {
  const wasOpen = useSignal(false);
  return (
    <details
      {...attributes}
      onToggle={({ currentTarget }) => (wasOpen.value ||= currentTarget.open)}
    >
      <summary>{summary}</summary>
      {wasOpen.value && children}
    </details>
  );
}

/** Writes nested states, which are JSON, as `on: playing`. */
export const toStates = (json: string): string =>
  json.replaceAll(/[{}"]/g, '').replaceAll(/[:,]/g, '$& ');

/** Greatest size of a token. */
export const limitBytes = 65_536;

export function TokenTitle({
  number,
  bytes,
}: Readonly<Record<'number' | 'bytes', number>>): JSX.Element {
  return (
    <>
      Token {number} <span>{bytes} bytes, sealed</span>
    </>
  );
}

type SliderProps = Readonly<Record<'label' | 'text', string> & Record<'count' | 'at', number>> & {
  readonly onMove: (at: number) => void;
};

/**
 * Slider through positions in time. Screen readers read the text of a position instead of a number.
 */
export function Slider({ label, text, count, at, onMove }: SliderProps): JSX.Element {
  return (
    <div class="slider">
      <input
        type="range"
        aria-label={label}
        aria-valuetext={text}
        max={count - 1}
        value={at}
        onInput={({ currentTarget }) => onMove(currentTarget.valueAsNumber)}
      />
      <span aria-hidden="true">{text}</span>
    </div>
  );
}

type RefusalProps = { readonly client: string | undefined; readonly operator: string | undefined };

export function Refusal({ client, operator }: RefusalProps): JSX.Element {
  return (
    <p class="failure" role="status">
      The client gets <b>{client?.replace(/\.$/, '')}</b>
      {operator !== undefined && [
        ', and the log of the operator says ',
        <b key="operator">{operator}</b>,
      ]}
      .
    </p>
  );
}

/**
 * Text from data, isolated from the text around it: its letters may be of Hebrew or Arabic. What
 * nobody sees in it is shown on the whole page (`render-page.ts`).
 */
export function Shown({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{text}</bdi>;
}
