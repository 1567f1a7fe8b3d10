import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, RenderableProps } from 'preact';

type FoldProps = RenderableProps<{ readonly summary: ComponentChildren }>;

/** Details with content that is drawn once they open. A long run has hundreds of them. */
export function Fold({ summary, children }: FoldProps): JSX.Element {
  const wasOpen = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => (wasOpen.value ||= currentTarget.open)}>
      <summary>{summary}</summary>
      {wasOpen.value && children}
    </details>
  );
}
