import type { ButtonHTMLAttributes, JSX } from 'preact';

/** Button that submits no form. */
export function Button(props: ButtonHTMLAttributes): JSX.Element {
  return <button type="button" {...props} />;
}
