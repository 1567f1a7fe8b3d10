/** A changed token. */
export interface Tampered {
  /** Description of the change. */
  readonly how: string;
  readonly token: string;
}

/**
 * Changes a token as an attacker might. A host must reject each result like any token that does not
 * open.
 *
 * @param other - another token of the same host, to combine with it
 */
export function tamper(token: string, other?: string): readonly Tampered[] {
  const middle = Math.floor(token.length / 2);
  const at = (index: number): string => withAnotherCharacter(token, index);
  const parts = token.split('.');
  return [
    { how: 'its first character is another one', token: at(0) },
    { how: 'a character in its middle is another one', token: at(middle) },
    { how: 'a character near its end is another one', token: alterEnd(token) },
    { how: 'its end is missing', token: token.slice(0, -4) },
    { how: 'its beginning is missing', token: token.slice(4) },
    { how: 'something stands behind it', token: `${token}AAAA` },
    { how: 'it is empty', token: '' },
    { how: 'it is something else', token: 'e30.e30.e30' },
    { how: 'two characters have changed places', token: swapped(token, middle) },
    ...(parts.length > 1
      ? [{ how: 'its parts have changed places', token: parts.toReversed().join('.') }]
      : []),
    ...(other === undefined || other === token
      ? []
      : [
          {
            how: 'its second half is of another token',
            token: token.slice(0, middle) + other.slice(Math.floor(other.length / 2)),
          },
        ]),
  ];
}

/**
 * Changes one character near the end of a token, whatever it is. To replace the end by a fixed text
 * would now and then give the token itself. The last character can contain unused bits, so it
 * stays.
 */
export function alterEnd(token: string): string {
  return withAnotherCharacter(token, token.length - 3);
}

function withAnotherCharacter(token: string, index: number): string {
  return token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1);
}

function swapped(token: string, from: number): string {
  for (let index = from; index + 1 < token.length; index += 1) {
    const [one = '', other = ''] = [token[index], token[index + 1]];
    if (one !== other) return token.slice(0, index) + other + one + token.slice(index + 2);
  }
  return `${token}A`;
}
