import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { EntryView } from '../model/view.ts';
import { Ladder } from './ladder.tsx';

type ComparedProps = {
  readonly origin: readonly EntryView[] | undefined;
  readonly children: ComponentChildren;
};

/** Ladder of a fork, beside that of its origin as long as the person wants so. A run has no origin. */
export function Compared({ origin, children }: ComparedProps): JSX.Element {
  const isOpen = useSignal(false);
  if (origin === undefined) return <>{children}</>;
  return (
    <>
      <label class="compare">
        <input
          type="checkbox"
          checked={isOpen.value}
          onChange={({ currentTarget }) => (isOpen.value = currentTarget.checked)}
        />
        Show the origin of the fork beside it
      </label>
      <div class={isOpen.value ? 'beside' : ''}>
        {isOpen.value && <Ladder entries={origin} tokens={[]} />}
        {children}
      </div>
    </>
  );
}
